// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with wrong sums: which slice of the summed dimension they lack or count twice. A
// dropped tail of k is wrong in every element, so that the elements' places (pattern.h) do not
// tell.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace kg::test {

// One wrong element: the terms that it should be the sum of, in order, and what it was.
struct WrongSum {
  std::vector<double> terms;
  double expected = 0;
  double actual = 0;
  double tolerance = 0;
};

// "the terms [96, 100) are missing", "the terms [0, 16) are counted twice", or "" where no slice
// explains all elements: one of 1, 2, 4, ... 1024 terms at a multiple of its length, or a tail. The
// shortest is named. All elements have the same number of terms.
std::string slice_hint(std::span<const WrongSum> wrong);

} // namespace kg::test
