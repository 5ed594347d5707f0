// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tests/contract/card.h"
#include "tests/contract/shape.h"

namespace kg::card {

// The index in Card::forms that matches the words of the problem's shape; "" matches a shape
// without any other form's words. Throws Error if no form or several match.
inline std::string form_of(const Card& card, const Problem& problem) {
  return card.forms[Shape::parse(problem.shape).phrase(card.forms)];
}

} // namespace kg::card
