// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// All that the sources need which CMake writes for each operation. They are many, and card.h and
// GoogleTest take a second to parse.
#pragma once

#include "runtime/dtype.h"

#include <initializer_list>
#include <string_view>

namespace kg::card {

struct Card;

// make()'s card with what stands in the call of kernelgrade_add_op. It lives as long as the
// program.
const Card& named_card(Card (*make)(), std::string_view name, std::string_view category,
                       std::initializer_list<Dtype> dtypes);

// Registers the contract's tests of each of the card's types with GoogleTest, and the operation's
// own. `card` must outlive them. Gives true.
bool register_contract(const Card& card);

} // namespace kg::card
