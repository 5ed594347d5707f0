// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/runtime/bulk/share_tiles.h"

#include "instructions/cluster.h"
#include "instructions/cp_async_bulk_tensor.h"
#include "instructions/mbarrier.h"

namespace kg::bulk {
namespace {

constexpr unsigned kTileBytes = kShareElements * sizeof(std::uint16_t);
constexpr std::uint16_t kBoth = 3;

struct Stages {
  std::uint16_t* tile;
  std::uint64_t* full;
  std::uint64_t* empty;
};

__device__ std::uint16_t mask_of(ShareMutant mutant, unsigned rank) {
  if (mutant == ShareMutant::mask_of_one) return static_cast<std::uint16_t>(1u << rank);
  if (mutant == ShareMutant::mask_of_three) return 7;
  if (mutant == ShareMutant::mask_of_none) return 0;
  return kBoth;
}

__device__ void load_tiles(const TensorMap& map, unsigned tiles, unsigned rank, Stages stages,
                           ShareMutant mutant) {
  for (unsigned tile = 0; tile < tiles; ++tile) {
    const unsigned s = tile % kShareStages;
    ptx::mbarrier_wait_parity(&stages.empty[s], tile / kShareStages % 2 ^ 1);
    const bool half = mutant == ShareMutant::half_the_bytes_expected;
    ptx::mbarrier_arrive_expect_tx(&stages.full[s], half ? kTileBytes / 2 : kTileBytes);
    const int row = static_cast<int>(tile * kShareRows + rank * kShareRows / 2);
    const int first[] = {0, row};
    ptx::cp_async_bulk_tensor_multicast(stages.tile + s * kShareElements +
                                            rank * kShareElements / 2,
                                        map, first, &stages.full[s], mask_of(mutant, rank));
  }
}

__device__ void double_tiles(unsigned tiles, std::uint16_t* out, Stages stages,
                             ShareMutant mutant) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned tile = 0; tile < tiles; ++tile) {
    const unsigned s = tile % kShareStages;
    ptx::mbarrier_wait_parity(&stages.full[s], tile / kShareStages % 2);
    for (unsigned i = lane; i < kShareElements; i += 32) {
      // The swizzle exchanges units of 8 elements within a row by the lowest bits of the row.
      const unsigned row = i / kShareColumns, unit = i % kShareColumns / 8;
      const unsigned place = row * kShareColumns + (unit ^ row % 8) * 8 + i % 8;
      out[tile * kShareElements + i] =
          static_cast<std::uint16_t>(2 * stages.tile[s * kShareElements + place]);
    }
    __syncwarp();
    if (mutant == ShareMutant::stage_of_the_other_not_awaited) {
      if (lane < kSharers) ptx::mbarrier_arrive(&stages.empty[s]);
    } else if (lane < kSharers) {
      ptx::mbarrier_arrive_cluster(&stages.empty[s], lane);
    }
  }
}

} // namespace

__global__ void share_tiles(const __grid_constant__ TensorMap map, unsigned tiles,
                            std::uint16_t* out, ShareMutant mutant) {
  std::uint16_t* const tile = dynamic_shared<std::uint16_t>();
  auto* const full = reinterpret_cast<std::uint64_t*>(tile + kShareStages * kShareElements);
  const Stages stages{tile, full, full + kShareStages};
  const unsigned rank = ptx::cluster_rank();
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < kShareStages; ++s) {
      ptx::mbarrier_init(&stages.full[s], 1);
      ptx::mbarrier_init(&stages.empty[s], kSharers);
    }
    ptx::fence_mbarrier_init();
  }
  if (mutant == ShareMutant::begins_before_the_other)
    __syncthreads();
  else
    ptx::cluster_sync();
  if (threadIdx.x == 0) load_tiles(map, tiles, rank, stages, mutant);
  const unsigned awaited = mutant == ShareMutant::last_tile_not_awaited ? tiles - 1 : tiles;
  if (threadIdx.x >= 32) double_tiles(awaited, out + rank * tiles * kShareElements, stages, mutant);
  if (mutant != ShareMutant::last_tile_not_awaited) ptx::cluster_sync();
}

} // namespace kg::bulk
