// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "faults.h"

#undef NDEBUG
#include <cassert>

namespace faults {

const int trap_line = __LINE__ + 2;
__global__ void trap() {
  if (threadIdx.x == 3) __trap();
}

const int assert_line = __LINE__ + 1;
__global__ void asserts(int value) { assert(value == 7 && "seven, please"); }

__global__ void deadlock() {
  if (threadIdx.x < 8) __syncwarp();
  if (threadIdx.x >= 8) __syncthreads();
}

__global__ void count_threads(int* count) { atomicAdd(count, 1); }

void launch_trap() { trap<<<2, 4>>>(); }
void launch_assert(int value) { asserts<<<1, 1>>>(value); }
void launch_deadlock() { deadlock<<<1, 32>>>(); }
const int launch_line = __LINE__ + 2;
void launch_count(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream, int* count) {
  count_threads<<<grid, block, shared_bytes, stream>>>(count);
}

} // namespace faults
