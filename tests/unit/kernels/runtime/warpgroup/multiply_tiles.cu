// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/runtime/warpgroup/multiply_tiles.h"

#include "instructions/cp_async_bulk_tensor.h"
#include "instructions/fence_proxy_async.h"
#include "instructions/mbarrier.h"
#include "instructions/named_barrier.h"
#include "instructions/setmaxnreg.h"
#include "instructions/wgmma.h"
#include "tests/unit/kernels/runtime/warpgroup/aligned_tiles.h"

namespace kg::warpgroup {
namespace {

constexpr unsigned kStages = 2, kRowBytes = 128;
constexpr unsigned kTileABytes = kTileRows * kRowBytes, kTileBBytes = kTileColumns * kRowBytes;
constexpr unsigned kStageBytes = kTileABytes + kTileBBytes;
constexpr unsigned kWarpgroup = 128;

__device__ void produce(const TensorMap& a, const TensorMap& b, unsigned char* stages,
                        std::uint64_t* full, std::uint64_t* empty, int steps) {
  for (int step = 0; step < steps; ++step) {
    const unsigned stage = step % kStages;
    unsigned char* const to = stages + stage * kStageBytes;
    ptx::mbarrier_wait_parity(empty + stage, step / kStages % 2 ^ 1);
    ptx::mbarrier_arrive_expect_tx(full + stage, kStageBytes);
    const int first[] = {step * static_cast<int>(kTileDepth), 0};
    ptx::cp_async_bulk_tensor_load(to, a, first, full + stage);
    ptx::cp_async_bulk_tensor_load(to + kTileABytes, b, first, full + stage);
  }
}

// Twice as much, of bf16 that are not 0.
__device__ unsigned doubled(unsigned pair) { return pair + 0x00800080; }

__device__ void consume(unsigned char* stages, std::uint64_t* full, std::uint64_t* empty,
                        float* out, int steps, bool spread, TilesMutant mutant) {
  const unsigned thread = threadIdx.x % kWarpgroup;
  const bool first = threadIdx.x < kWarpgroup; // of the warpgroups
  float sums[kTileColumns / 2];
  for (int step = 0; step < steps; ++step) {
    const unsigned stage = step % kStages;
    unsigned char* const tile = stages + stage * kStageBytes;
    ptx::mbarrier_wait_parity(full + stage, step / kStages % 2);
    auto* const words = reinterpret_cast<unsigned*>(tile);
    for (unsigned i = thread; first && i < kTileABytes / 4; i += kWarpgroup)
      words[i] = doubled(words[i]);
    if (mutant != TilesMutant::proxy_fence_missing) ptx::fence_proxy_async_shared();
    ptx::named_barrier_sync(1, 2 * kWarpgroup);
    ptx::MatrixLayout layout{ptx::MatrixSwizzle::bytes128, 16, 8 * kRowBytes};
    if (mutant == TilesMutant::swizzle_of_another) layout.swizzle = ptx::MatrixSwizzle::bytes64;
    if (mutant == TilesMutant::stride_of_another) layout.stride = 4 * kRowBytes;
    auto of_a = ptx::matrix_descriptor(tile, layout);
    const auto of_b = ptx::matrix_descriptor(tile + kTileABytes, layout);
    if (mutant == TilesMutant::start_of_another) of_a = of_a + 16;
    if (mutant == TilesMutant::one_thread_differs && thread == 77) of_a = of_a + 32;
    if (mutant != TilesMutant::register_fence_missing) ptx::wgmma_fence();
    if (mutant != TilesMutant::half_of_warpgroup || thread < 64) {
      KG_UNROLL
      for (unsigned k = 0; k < 4; ++k)
        ptx::wgmma<ptx::MatrixElement::bf16>(sums, of_a + 32 * k, of_b + 32 * k, step + k != 0);
      if (mutant != TilesMutant::commit_missing) ptx::wgmma_commit();
    }
    if (mutant == TilesMutant::released_early && thread == 0) ptx::mbarrier_arrive(empty + stage);
    if (mutant == TilesMutant::sum_read_early && first) out[2 * kTileRows * kTileColumns] = sums[0];
    if (spread || mutant == TilesMutant::waits_for_one_too_few)
      ptx::wgmma_wait_group<1>();
    else
      ptx::wgmma_wait_group<0>();
    if (thread != 0) continue;
    if (spread && step > 0) ptx::mbarrier_arrive(empty + (step - 1) % kStages);
    if (!spread && mutant != TilesMutant::released_early) ptx::mbarrier_arrive(empty + stage);
  }
  if (mutant != TilesMutant::waits_for_one_too_few) ptx::wgmma_wait_group<0>(sums);
  const unsigned row = (first ? 0 : kTileRows) + thread / 32 * 16 + thread % 32 / 4;
  for (unsigned i = 0; i < kTileColumns / 2; ++i)
    out[(row + i / 2 % 2 * 8) * kTileColumns + i / 4 * 8 + thread % 4 * 2 + i % 2] = sums[i];
}

} // namespace

__global__ void __launch_bounds__(kTilesThreads, 1)
    multiply_tiles(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                   float* out, int steps, bool spread, TilesMutant mutant) {
  unsigned char* const stages = aligned_tiles();
  __shared__ std::uint64_t full[kStages], empty[kStages];
  if (threadIdx.x == 0) {
    for (unsigned i = 0; i < kStages; ++i) {
      ptx::mbarrier_init(full + i, 1);
      ptx::mbarrier_init(empty + i, 2);
    }
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x < 2 * kWarpgroup) {
    ptx::setmaxnreg_inc<232>();
    consume(stages, full, empty, out, steps, spread, mutant);
  } else {
    ptx::setmaxnreg_dec<40>();
    if (threadIdx.x == 2 * kWarpgroup) produce(a, b, stages, full, empty, steps);
  }
}

} // namespace kg::warpgroup
