// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a shape that somebody types is held to: a word misspelt, repeated or out of place must not
// run another problem than it names.
#pragma once

#include "runtime/dtype.h"
#include "tests/contract/card.h"

#include <string>

namespace kg::card {

// Throws Error naming the word, and the card's grammar, unless the shape is one of the grammar and
// there is something to compute: a number is 0 only where one of the card's own shapes has it so,
// and each output has elements. Shapes that the card times are right.
void require_well_formed(const Card& card, Dtype dtype, const std::string& shape);

} // namespace kg::card
