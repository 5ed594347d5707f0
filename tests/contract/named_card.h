// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The only header of the sources that CMake generates for each operation. There are many such
// sources, and parsing any other header would dominate their compile time.
#pragma once

namespace kg::card {

struct Card;

// make()'s card with the arguments of kernelgrade_add_op; `dtypes` such as "f32 f16". The card
// lives until the program ends. Throws Error for an unknown type name.
const Card& named_card(Card (*make)(), const char* name, const char* category, const char* dtypes);

// Registers the conformance tests of each of the card's types, and the operation's own tests, with
// GoogleTest. `card` must outlive them. Returns true.
bool register_contract(const Card& card);

} // namespace kg::card
