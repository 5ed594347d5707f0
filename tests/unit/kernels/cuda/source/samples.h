// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What samples.cu offers to the test: plain functions over host memory. Each returns whether every
// CUDA call succeeded.
#pragma once

#include <vector>

namespace samples {

double sum(const std::vector<double>& values);
long long sum(const std::vector<long long>& values);
bool reverse(std::vector<short>& values); // at most 1024
bool transpose(const std::vector<float>& in, std::vector<float>& out, int rows, int columns);
bool filter(std::vector<float>& values, const float (&weights)[3]);
bool grid_sum(const std::vector<int>& values, bool by_attribute, int* sum); // + 42
bool halves(const std::vector<float>& in, std::vector<float>& out);
int maximum(const std::vector<int>& values); // of code for recent devices
int in_braces(int a, int b);                 // 1000 + a - 2 b
bool printed(int number);                    // "kernel says <number>" on standard output
float managed_and_timed(int n);

} // namespace samples
