// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Validates a shape that a user typed: a misspelt, repeated or misplaced word must not select a
// different problem.
#pragma once

#include "runtime/dtype.h"
#include "tests/contract/card.h"

#include <string>

namespace kg::card {

// Throws Error, naming the word and the card's grammar, unless the grammar accepts the shape and it
// has work to do: each output has elements, and a number is 0 only where one of the card's own
// shapes has a 0 there. Shapes that the card times are always valid.
void require_well_formed(const Card& card, Dtype dtype, const std::string& shape);

} // namespace kg::card
