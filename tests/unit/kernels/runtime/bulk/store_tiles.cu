// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/runtime/bulk/store_tiles.h"

#include "instructions/cp_async_bulk.h"
#include "instructions/elect.h"
#include "instructions/fence_proxy_async.h"
#include "instructions/stmatrix.h"

namespace kg::bulk {

__global__ void store_tiles(unsigned short* out, unsigned* elected, bool transposed,
                            StoreMutant mutant) {
  alignas(128) __shared__ unsigned short tile[kMatrices * 64 + 8];
  const unsigned lane = threadIdx.x;
  unsigned fragment[kMatrices];
  for (unsigned i = 0; i < kMatrices; ++i) {
    const unsigned first = 64 * i + 8 * (lane / 4) + 2 * (lane % 4);
    fragment[i] = first | (first + 1) << 16;
  }
  unsigned short* const row = tile + 8 * lane + (mutant == StoreMutant::row_misaligned ? 4 : 0);
  if (mutant != StoreMutant::half_of_warp || lane < 16) {
    if (transposed)
      ptx::stmatrix_trans(row, fragment);
    else
      ptx::stmatrix(row, fragment);
  }
  if (mutant != StoreMutant::fence_missing) ptx::fence_proxy_async_shared();
  if (mutant != StoreMutant::warp_not_synced) __syncwarp();
  const bool mine = ptx::elect_sync();
  if (mine) *elected = lane;
  const bool apart = mutant == StoreMutant::lanes_copy_apart;
  if (mine || apart || mutant == StoreMutant::all_lanes_copy) {
    const unsigned short* const from = tile + (apart ? 8 * (lane % 2) : 0);
    ptx::cp_async_bulk_store(out, from, kMatrices * 64 * sizeof(unsigned short));
    ptx::cp_async_bulk_commit();
    if (mutant != StoreMutant::group_not_awaited) ptx::cp_async_bulk_wait_group<0>();
  }
}

} // namespace kg::bulk
