// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Right: on a GPU, Thrust's algorithms follow the kernel on the default stream, though here the
// host runs them.
#include <cstdio>
#if !__has_include(<thrust/device_vector.h>)
int main() { return 77; }
#else
#include <thrust/device_vector.h>
#include <thrust/reduce.h>

__global__ void count(int* out) { out[threadIdx.x] = static_cast<int>(threadIdx.x) + 1; }

int main() {
  thrust::device_vector<int> numbers(16);
  count<<<1, 16>>>(thrust::raw_pointer_cast(numbers.data()));
  std::printf("%d\n", thrust::reduce(numbers.begin(), numbers.end()));
}
#endif
