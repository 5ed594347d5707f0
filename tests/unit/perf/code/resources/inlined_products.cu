// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous products as they should be: two of a group, one wait.
#include "instructions/wgmma.h"

namespace kg::products {

__global__ void __launch_bounds__(128, 1) inlined(float* y, int swizzle) {
  extern __shared__ uint4 tiles[];
  const ptx::MatrixLayout layout{ptx::MatrixSwizzle(swizzle), 16, 1024};
  const ptx::MatrixDescriptor tile = ptx::matrix_descriptor(tiles, layout);
  float sums[4];
  ptx::wgmma_fence();
  ptx::wgmma<ptx::MatrixElement::bf16>(sums, tile, tile, false);
  ptx::wgmma<ptx::MatrixElement::bf16>(sums, tile + 32, tile + 32, true);
  ptx::wgmma_commit();
  ptx::wgmma_wait_group<0>(sums);
  for (int i = 0; i < 4; ++i) y[threadIdx.x * 4 + i] = sums[i];
}

} // namespace kg::products
