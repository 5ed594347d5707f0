// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What two implementations of a model made of the same weights and inputs.
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
  double size = 0;     // the second file's mean absolute value
};

// Each array of f32 that the files have; those of integers must be equal. Throws Error where one
// has an array that the other lacks or that has another shape. What is not finite is infinitely
// far.
std::vector<ArrayDistance> distances(const std::filesystem::path& a,
                                     const std::filesystem::path& b);

std::string text(const std::vector<ArrayDistance>& distances, double most);
bool within(const std::vector<ArrayDistance>& distances, double most); // mean, of every array

} // namespace kg::perf
