// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// All that the sources need which CMake writes for each operation. They are many, and any header
// takes several times as long to parse as they.
#pragma once

namespace kg::card {

struct Card;

// make()'s card with what stands in the call of kernelgrade_add_op: the types as "f32 f16". It
// lives as long as the program. Throws Error where a type has no such name.
const Card& named_card(Card (*make)(), const char* name, const char* category, const char* dtypes);

// Registers the contract's tests of each of the card's types with GoogleTest, and the operation's
// own. `card` must outlive them. Gives true.
bool register_contract(const Card& card);

} // namespace kg::card
