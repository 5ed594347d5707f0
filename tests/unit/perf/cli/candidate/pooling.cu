// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A maximum over windows as somebody else might hand it in, for one layout of one kind.
#include <cstdint>
#include <cuda_runtime.h>

namespace {

struct Windows {
  int64_t h, w, out_h, out_w, kernel_h, kernel_w, stride_h, stride_w, pad_top, pad_left, dilation_h,
      dilation_w;
};

// One block per plane.
__global__ void max_of_windows(const float* x, float* y, Windows p) {
  const float* const plane = x + blockIdx.x * p.h * p.w;
  for (int64_t i = threadIdx.x; i < p.out_h * p.out_w; i += blockDim.x) {
    float largest = -INFINITY;
    for (int64_t r = 0; r < p.kernel_h; ++r)
      for (int64_t c = 0; c < p.kernel_w; ++c) {
        const int64_t row = i / p.out_w * p.stride_h - p.pad_top + r * p.dilation_h;
        const int64_t col = i % p.out_w * p.stride_w - p.pad_left + c * p.dilation_w;
        if (row < 0 || row >= p.h || col < 0 || col >= p.w) continue;
        const float value = plane[row * p.w + col];
        if (!(value <= largest)) largest = isnan(largest) ? largest : value; // a NaN stays
      }
    y[blockIdx.x * p.out_h * p.out_w + i] = largest;
  }
}

} // namespace

extern "C" void pooling_max_nchw_f32(const float* x, float* y, int64_t n, int64_t c, int64_t h,
                                     int64_t w, int64_t out_h, int64_t out_w, int64_t kernel_h,
                                     int64_t kernel_w, int64_t stride_h, int64_t stride_w,
                                     int64_t pad_top, int64_t /*pad_bottom*/, int64_t pad_left,
                                     int64_t /*pad_right*/, int64_t dilation_h, int64_t dilation_w,
                                     cudaStream_t stream) {
  if (n * c == 0) return;
  max_of_windows<<<static_cast<unsigned>(n * c), 128, 0, stream>>>(
      x, y,
      Windows{h, w, out_h, out_w, kernel_h, kernel_w, stride_h, stride_w, pad_top, pad_left,
              dilation_h, dilation_w});
}
