// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A permutation of axes as somebody else might hand it in: it is called with lists.
#include <cstdint>
#include <cuda_runtime.h>

namespace {

struct Axes {
  int64_t rank, extent[5], step[5]; // of y, from outside in, and how far x goes for one
};

__global__ void permute_elements(const float* x, float* y, Axes axes, int64_t count) {
  const int64_t place = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (place >= count) return;
  int64_t rest = place, from = 0;
  for (int64_t d = axes.rank - 1; d >= 0; --d) {
    from += rest % axes.extent[d] * axes.step[d];
    rest /= axes.extent[d];
  }
  y[place] = x[from];
}

} // namespace

extern "C" void permute_f32(const float* x, float* y, int64_t rank, const int64_t* extents,
                            const int64_t* order, cudaStream_t stream) {
  Axes axes{.rank = rank};
  int64_t count = 1, steps[5];
  for (int64_t d = rank - 1; d >= 0; --d) {
    steps[d] = count;
    count *= extents[d];
  }
  for (int64_t d = 0; d < rank; ++d) {
    axes.extent[d] = extents[order[d]];
    axes.step[d] = steps[order[d]];
  }
  if (count == 0) return;
  permute_elements<<<static_cast<unsigned>((count + 255) / 256), 256, 0, stream>>>(x, y, axes,
                                                                                   count);
}
