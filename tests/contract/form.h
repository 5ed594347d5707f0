// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tests/contract/card.h"
#include "tests/contract/shape.h"

namespace kg::card {

// Which of Card::forms the problem has, by the words of its shape. "" is the form of a shape with
// none of the others' words. Throws Error if no form or several match.
inline std::string form_of(const Card& card, const Problem& problem) {
  return card.forms[Shape::parse(problem.shape).phrase(card.forms)];
}

} // namespace kg::card
