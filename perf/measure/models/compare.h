// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares the results of two implementations of a model with equal weights and inputs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kg::perf {

struct ArrayDistance {
  std::string name;
  std::int64_t elements = 0;
  double mean = 0;     // absolute error
  double greatest = 0; // absolute error
  double size = 0;     // mean absolute value in the second file
};

// Compares each f32 array of both files. Integer arrays must be equal. Throws Error if an array is
// missing in one file or has a different shape. A value that is not finite counts as an infinite
// error.
std::vector<ArrayDistance> distances(const std::filesystem::path& a,
                                     const std::filesystem::path& b);

std::string text(const std::vector<ArrayDistance>& distances, double most);
bool within(const std::vector<ArrayDistance>& distances, double most); // mean error, of every array

} // namespace kg::perf
