// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Explains wrong sums: the slice of the summed dimension that they lack or count twice. A dropped
// tail of k makes every element wrong, so the elements' positions (pattern.h) do not help.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace kg::test {

// One wrong element: the terms of its sum, in order, and its value.
struct WrongSum {
  std::vector<double> terms;
  double expected = 0;
  double actual = 0;
  double tolerance = 0;
};

// "the terms [96, 100) are missing", "the terms [0, 16) are counted twice", or "" if no slice
// explains all elements. A slice has 1, 2, 4, ... 1024 terms at a multiple of its length, or is a
// tail. Names the shortest. All elements have the same number of terms.
std::string slice_hint(std::span<const WrongSum> wrong);

} // namespace kg::test
