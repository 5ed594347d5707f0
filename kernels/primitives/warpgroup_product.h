// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The main loop of persistent blocks that multiply matrices by wgmma. A producer warp fills the
// stages of a pipeline with slices of both operands, tile after tile. Consumer warpgroups multiply
// 64 rows of a tile each. One group of wgmma stays pending while the next slice is awaited; the
// previous slice's stage is released then.
//
// If the number of tile rows is even, two blocks of a cluster take a pair of vertically adjacent
// tiles and share slices of B: each block multicasts half a slice to both. The blocks therefore
// stay within a pipeline's length of each other. With an odd number of tile rows, blocks work
// alone.
//
// Architecture 9.0 and above.
#pragma once

#include "instructions/cluster.h"
#include "primitives/bulk_pipeline.h"
#include "primitives/tile_scheduler.h"
#include "primitives/warpgroup_tile.h"
#include "runtime/device.h"
#include "runtime/launch.h"
#include "runtime/resident_clusters.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kg {

inline constexpr unsigned kSharers = 2; // blocks that share slices of B, if any do

// Of a multiprocessor's 65,536 registers, a block of 384 threads starts with 168 per thread. The
// redistribution to one producer and two consumer warpgroups must not exceed that total.
inline constexpr int kProducerRegisters = 40, kConsumerRegisters = 232;

// Dynamic shared memory after the tiles' alignment: stages, kStaging bytes per consumer warp for
// finished sums (a multiple of 1,024), mbarriers.
template <Tile kTile, int kStaging>
struct TileMemory {
  using Pipeline = BulkPipeline<kTile.stages>;
  static constexpr int kPipelineAt =
      kTile.pipeline_bytes() + kTile.consumers() * kWarpgroup / 32 * kStaging;
  static constexpr std::size_t kBytes =
      static_cast<std::size_t>(kTileAlignmentBytes + kPipelineAt + int{sizeof(Pipeline)});
  static_assert(kStaging % kPatternBytes == 0);
  static_assert(kBytes <= std::size_t{227} * 1024, "the most that a block may use");

  __device__ static __forceinline__ Pipeline& pipeline(unsigned char* memory) {
    return *reinterpret_cast<Pipeline*>(memory + kPipelineAt);
  }
  __device__ static __forceinline__ unsigned char* staging(unsigned char* memory, int warp) {
    return memory + kTile.pipeline_bytes() + warp * kStaging;
  }
};

// T: elements of both operands in memory, kElement: the same for wgmma. kAlongK of each operand: as
// of OperandSlice.
template <class T, ptx::MatrixElement kElement, Tile kTile, bool kAAlongK, bool kBAlongK>
struct WarpgroupProduct {
  using A = OperandSlice<T, kTile.m, kAAlongK>;
  using B = OperandSlice<T, kTile.n, kBAlongK, kSharers>;
  using Pipeline = BulkPipeline<kTile.stages>;
  static_assert(A::kDepth == B::kDepth);
  static constexpr int kDepth = A::kDepth;

  // Which operands are the same for all products of a grid.
  struct Shared {
    bool a, b;
  };

  // One thread fills the pipeline with the slices of all tiles of the block; if blocks share B,
  // only with this block's part of B's slices.
  __device__ static __forceinline__ void produce(const TensorMap& map_a, const TensorMap& map_b,
                                                 Shared shared, const TileGrid& grid, int slices,
                                                 unsigned sharers, unsigned char* memory,
                                                 Pipeline& pipeline) {
    const auto part = static_cast<int>(ptx::cluster_rank());
    typename Pipeline::State state;
    for (TileScheduler scheduler(grid); scheduler.has_tile(); scheduler.advance()) {
      const TilePlace tile = scheduler.place();
      const auto product = static_cast<int>(scheduler.product());
      const int of_a = shared.a ? 0 : product, of_b = shared.b ? 0 : product;
      const int row = static_cast<int>(tile.row) * kTile.m;
      const int column = static_cast<int>(tile.column) * kTile.n;
      KG_ROLLED
      for (int slice = 0; slice < slices; ++slice, state.advance()) {
        unsigned char* const a = memory + state.stage() * kTile.stage_bytes();
        unsigned char* const b = a + A::kBytes;
        pipeline.producer_acquire(state, static_cast<unsigned>(kTile.stage_bytes()));
        const int k = slice * kDepth;
        A::load(a, map_a, row, k, of_a, pipeline.full(state));
        if (sharers == kSharers)
          B::load_part(b, map_b, column, k, of_b, pipeline.full(state), part);
        else
          B::load(b, map_b, column, k, of_b, pipeline.full(state));
      }
    }
  }

  // Adds the products of a tile's slices to a warpgroup's sums; its rows start at `row`.
  template <class Sum>
  __device__ static __forceinline__ void
  multiply(int slices, int row, unsigned sharers, unsigned char* memory, Pipeline& pipeline,
           typename Pipeline::State& state, Sum (&sums)[kTile.n / 2]) {
    const unsigned thread = threadIdx.x % kWarpgroup; // the first threads release, one block each
    const bool releases = thread < sharers;
    typename Pipeline::State before = state;
    KG_ROLLED
    for (int slice = 0; slice < slices; ++slice) {
      const unsigned char* const a = memory + state.stage() * kTile.stage_bytes();
      const ptx::MatrixDescriptor of_a = A::matrix(a, row);
      const ptx::MatrixDescriptor of_b = B::matrix(a + A::kBytes);
      pipeline.consumer_wait(state);
      ptx::wgmma_fence();
      KG_UNROLL
      for (unsigned step = 0; step < A::kSteps; ++step)
        ptx::wgmma<kElement, kAAlongK, kBAlongK>(sums, of_a + step * A::kStepBytes,
                                                 of_b + step * B::kStepBytes, true);
      ptx::wgmma_commit();
      ptx::wgmma_wait_group<1>();
      if (slice > 0 && releases) pipeline.consumer_release(before, thread);
      before = state;
      state.advance();
    }
    ptx::wgmma_wait_group<0>(sums);
    if (slices > 0 && releases) pipeline.consumer_release(before, thread);
  }

  // The same for 8-bit floating-point types, of whose sums Tensor Cores keep fewer bits than f32
  // has: they add the products of one slice, 128 steps of k, and threads add those sums in f32. No
  // group stays pending; the other warpgroup's products run meanwhile.
  __device__ static __forceinline__ void
  multiply_in_two_levels(int slices, int row, unsigned sharers, unsigned char* memory,
                         Pipeline& pipeline, typename Pipeline::State& state,
                         float (&sums)[kTile.n / 2]) {
    const unsigned thread = threadIdx.x % kWarpgroup;
    float of_slice[kTile.n / 2] = {};
    KG_ROLLED
    for (int slice = 0; slice < slices; ++slice) {
      const unsigned char* const a = memory + state.stage() * kTile.stage_bytes();
      const ptx::MatrixDescriptor a_rows = A::matrix(a, row);
      const ptx::MatrixDescriptor b_columns = B::matrix(a + A::kBytes);
      pipeline.consumer_wait(state);
      ptx::wgmma_fence();
      KG_UNROLL
      for (unsigned step = 0; step < A::kSteps; ++step)
        ptx::wgmma<kElement, kAAlongK, kBAlongK>(of_slice, a_rows + step * A::kStepBytes,
                                                 b_columns + step * B::kStepBytes, step != 0);
      ptx::wgmma_commit();
      ptx::wgmma_wait_group<0>(of_slice);
      if (thread < sharers) pipeline.consumer_release(state, thread);
      state.advance();
      KG_UNROLL
      for (int i = 0; i < kTile.n / 2; ++i) sums[i] += of_slice[i];
    }
  }
};

// The number of blocks of a cluster that share slices of B: if the number of tile rows is even,
// tiles 2 i and 2 i + 1 are in one column of tiles (tile_scheduler.h).
inline unsigned sharers_of(std::int64_t tile_rows) {
  return tile_rows % kSharers == 0 ? kSharers : 1;
}

// The launch of persistent blocks for `tiles` tiles, in clusters of `sharers` blocks.
template <class... Parameters>
LaunchConfig persistent_launch(void (*kernel)(Parameters...), const Tile& tile,
                               std::size_t shared_bytes, unsigned tiles, unsigned sharers,
                               Stream& stream) {
  LaunchConfig config{.grid = 1,
                      .block = dim3(static_cast<unsigned>(tile.threads())),
                      .shared_bytes = shared_bytes,
                      .stream = &stream,
                      .cluster = {sharers, 1, 1}};
  const int places = sharers > 1 ? resident_clusters(kernel, config) : device_properties().sm_count;
  config.grid = dim3(sharers * std::min(tiles / sharers, static_cast<unsigned>(places)));
  return config;
}

} // namespace kg
