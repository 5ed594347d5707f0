// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The same products in a function that is called: ptxas makes each wait for the one before.
#include "instructions/wgmma.h"

namespace kg::products {

__device__ __noinline__ void add_product(float (&sums)[4], ptx::MatrixDescriptor tile) {
  ptx::wgmma_fence();
  ptx::wgmma<ptx::MatrixElement::bf16>(sums, tile, tile, true);
  ptx::wgmma<ptx::MatrixElement::bf16>(sums, tile + 32, tile + 32, true);
  ptx::wgmma_commit();
  ptx::wgmma_wait_group<0>(sums);
}

__global__ void __launch_bounds__(128, 1) called(float* y, int swizzle) {
  extern __shared__ uint4 tiles[];
  const ptx::MatrixLayout layout{ptx::MatrixSwizzle(swizzle), 16, 1024};
  float sums[4] = {};
  add_product(sums, ptx::matrix_descriptor(tiles, layout));
  add_product(sums, ptx::matrix_descriptor(tiles + 64, layout));
  for (int i = 0; i < 4; ++i) y[threadIdx.x * 4 + i] = sums[i];
}

// Of the same file, and none of these remarks is its.
__global__ void __launch_bounds__(128) scaled(float* y) { y[threadIdx.x] *= 2; }

} // namespace kg::products
