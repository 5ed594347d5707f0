// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Thrust's kernels and CUB's, as nvcc made them: sums, prefix sums, and a sort.
#include <cstdio>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

int main() {
  const int n = 5003;
  thrust::device_vector<int> values(n), sums(n);
  for (int i = 0; i < n; ++i) values[i] = static_cast<int>(i * 2654435761u >> 20) - 2048;
  int right = 0, wrong = 0;
  for (int i = 0; i < n; ++i) right += values[i];
  const int sum = thrust::reduce(values.begin(), values.end());
  thrust::inclusive_scan(values.begin(), values.end(), sums.begin());
  thrust::sort(values.begin(), values.end());
  for (int i = 1; i < n; ++i) wrong += values[i - 1] > values[i];
  std::printf("sum %d of %d, last prefix %d, %d out of order\n", sum, right, int(sums[n - 1]),
              wrong);
  return sum == right && sums[n - 1] == right && wrong == 0 ? 0 : 1;
}
