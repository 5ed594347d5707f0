// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums along an axis as somebody else might hand them in, one thread a sum; with -DINT_INDEX for
// less than 2^31 elements.
#include <cstdint>
#include <cuda_runtime.h>

namespace {

#ifdef INT_INDEX
using Index = int;
#else
using Index = int64_t;
#endif

__global__ void sums(const float* x, float* out, int64_t count, Index axis, Index inner) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const Index outer = static_cast<Index>(i / inner), column = static_cast<Index>(i % inner);
  float sum = 0;
  for (Index a = 0; a < axis; ++a) sum += x[(outer * axis + a) * inner + column];
  out[i] = sum;
}

} // namespace

extern "C" void reduction_sum_f32(const float* x, float* out, int64_t outer, int64_t axis,
                                  int64_t inner, cudaStream_t stream) {
  constexpr int kThreads = 128;
  const int64_t count = outer * inner;
  if (count == 0) return;
  sums<<<static_cast<unsigned>((count + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
      x, out, count, static_cast<Index>(axis), static_cast<Index>(inner));
}
