// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gemm, variant wgmma, for f16 and bf16 on compute capability 9.0: blocks that stay, one to a
// multiprocessor, take tiles of C of 128x256, or 128x128 where those are too few, one after the
// other. One warp brings slices of 64 steps of k by bulk copies into a pipeline of stages in shared
// memory, and goes on to the next tile's while the last one is finished; two warpgroups multiply,
// 64 rows each, by wgmma, which reads both operands from shared memory. setmaxnreg gives the
// registers that the producer does not need to them, for 128 sums a thread.
//
// A row-major A and a transposed B are contiguous in k, the others in m and n: wgmma takes 16-bit
// elements either way, so nothing is turned. What lies outside of A and B the copies fill with
// zeros. One group of products stays pending while the next slice is waited for; the stage of the
// slice before is released then. Finished sums are scaled, rounded and stored by bulk copies that
// go on under the next tile (warp_store.h). Those that C, a bias or z is added to go through shared
// memory in f32, a warp's 8 rows at a time, to be finished as the other variants' (finish.h), in
// whole rows, 16 bytes at a time. Either way a warp waits for no other.
//
// Where rows of tiles come in pairs, two blocks of a cluster take the tiles of a pair in one column
// of tiles, and share its slices of B: each brings half of one by multicast, to both. So the two
// stay within a pipeline's length of each other. With an odd number of rows of tiles a block works
// alone.
//
// Rows of all matrices begin at multiples of 16 bytes, which tensor maps demand. Other problems are
// left to mma.
//
// Bytes: a block reads (128 + 256) k elements, 85 flops per byte, from L2 or memory; one that
// shares B (128 + 128) k, 128 flops per byte (64 and 85 of 128x128): modelled, not measured. 144
// KiB are under way at once. Flops: 2 m n k. In flops per clock of an H200's multiprocessor: the
// matrix units 4,096; shared memory, of which an instruction of 128 clocks reads 80 bytes a clock
// of 128, 6,554; L2, which gives each 38.8 bytes a clock, 3,310 (128x128: 2,483), shared 4,966
// (3,310). Beside k a tile costs about 1,500 clocks: its 64 KiB through shared memory, 512, and a
// first slice's products alone; with an epilogue 4,000, for 128 KiB of sums are written there and
// read.
// Expected share of the dense peak for m, n, k >= 4096: the matrix units' 100 %, less 2 % for the
// ends of tiles and 3 % for a last round of tiles that fills 88 % of the device: 95 %, or what the
// GPU's power limit leaves of it, as cuBLAS. Without sharing it would be L2's 81 %, less the same.
// Why not mma's loop: mma.sync reaches 63 % of the matrix units, and takes its operands through
// registers. Why a warpgroup has 64 rows of 256 columns and not 128 of 128: two instructions of 128
// columns would read 96 bytes a clock. Why C is not stored from registers: from where wgmma leaves
// sums rows would be written 16 bytes at a time. Why two blocks share and not four: matrix units
// bind at two, and every block more is one more to wait for.
#include "ops/gemm/finish.h"
#include "ops/gemm/tile_rows.h"
#include "ops/gemm/tile_time.h"
#include "ops/gemm/variants.h"

#include "instructions/cluster.h"
#include "instructions/elect.h"
#include "instructions/setmaxnreg.h"
#include "instructions/store_shared.h"
#include "primitives/bulk_pipeline.h"
#include "primitives/tile_scheduler.h"
#include "primitives/warp_store.h"
#include "primitives/warpgroup_tile.h"
#include "runtime/device.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"
#include "runtime/resident_clusters.h"

#include <algorithm>
#include <limits>

namespace kg::gemm {
namespace {

constexpr Tile kSquareTile{.m = 128, .n = 128, .stages = 5};
constexpr Tile kWideTile{.m = 128, .n = 256, .stages = 3};
constexpr unsigned kSharers = 2; // blocks that share slices of B, where any do
__host__ __device__ constexpr Tile tile_of(bool wide) { return wide ? kWideTile : kSquareTile; }

// Of 65,536 a multiprocessor has, a block of 384 threads begins with 168 a thread; so many of the
// producer's warpgroup and of the others are no more.
constexpr int kProducerRegisters = 40, kConsumerRegisters = 232;

// Sums of a warp on their way to C: 8 rows, whose distance spreads the 4 rows and 8 columns that a
// half-warp stores over the banks.
constexpr int kStagedRows = 8;
constexpr int staging_pitch(const Tile& tile) { return tile.n + 8; } // floats
// A warp's bytes: as many as its 16 rows of results take (WarpStore), or 8 of sums.
constexpr int staging_bytes(const Tile& tile) {
  const int sums = kStagedRows * staging_pitch(tile) * static_cast<int>(sizeof(float));
  return (sums + kPatternBytes - 1) / kPatternBytes * kPatternBytes;
}
// Behind the tiles' alignment: stages, staging, mbarriers.
constexpr int mbarriers_at(const Tile& tile) {
  return tile.pipeline_bytes() + tile.consumers() * kWarpgroup / 32 * staging_bytes(tile);
}
template <Tile kTile>
constexpr std::size_t
    kSharedBytes = static_cast<std::size_t>(kTileAlignmentBytes + mbarriers_at(kTile) +
                                            int{sizeof(BulkPipeline<kTile.stages>)});
constexpr std::size_t kMostSharedBytes = 227 * 1024;
static_assert(kSharedBytes<kSquareTile> <= kMostSharedBytes);
static_assert(kSharedBytes<kWideTile> <= kMostSharedBytes);

template <class T>
constexpr ptx::MatrixElement kElement =
    dtype_of<T> == Dtype::f16 ? ptx::MatrixElement::f16 : ptx::MatrixElement::bf16;

template <class T, Tile kTile, bool kTransposeA, bool kTransposeB>
struct Slices {
  using A = OperandSlice<T, kTile.m, !kTransposeA>;
  using B = OperandSlice<T, kTile.n, kTransposeB, kSharers>;
  using Pipeline = BulkPipeline<kTile.stages>;
  static_assert(A::kDepth == B::kDepth);
  static constexpr int kDepth = A::kDepth;
};

// One thread: fills the pipeline with the slices of all of the block's tiles, of B's with its part
// where blocks share them.
template <class All, Tile kTile, class T>
__device__ __forceinline__ void produce(const TensorMap& map_a, const TensorMap& map_b,
                                        const BasicProblem<T>& p, const TileGrid& grid, int slices,
                                        unsigned sharers, unsigned char* memory,
                                        typename All::Pipeline& pipeline) {
  const auto part = static_cast<int>(ptx::cluster_rank());
  typename All::Pipeline::State state;
  for (TileScheduler scheduler(grid); scheduler.has_tile(); scheduler.advance()) {
    const TilePlace tile = scheduler.place();
    const auto product = static_cast<int>(scheduler.product());
    const int of_a = p.stride_a == 0 ? 0 : product, of_b = p.stride_b == 0 ? 0 : product;
    const int row = static_cast<int>(tile.row) * kTile.m;
    const int column = static_cast<int>(tile.column) * kTile.n;
    KG_ROLLED
    for (int slice = 0; slice < slices; ++slice, state.advance()) {
      unsigned char* const a = memory + state.stage() * kTile.stage_bytes();
      unsigned char* const b = a + All::A::kBytes;
      pipeline.producer_acquire(state, static_cast<unsigned>(kTile.stage_bytes()));
      const int k = slice * All::kDepth;
      All::A::load(a, map_a, row, k, of_a, pipeline.full(state));
      if (sharers == kSharers)
        All::B::load_part(b, map_b, column, k, of_b, pipeline.full(state), part);
      else
        All::B::load(b, map_b, column, k, of_b, pipeline.full(state));
    }
  }
}

// Adds the products of a tile's slices to a warpgroup's sums, its rows being those from `row` on.
template <class T, class All, Tile kTile>
__device__ __forceinline__ void multiply(int slices, int row, unsigned sharers,
                                         unsigned char* memory, typename All::Pipeline& pipeline,
                                         typename All::Pipeline::State& state,
                                         float (&sums)[kTile.n / 2]) {
  const unsigned thread = threadIdx.x % kWarpgroup; // the first ones release, a block each
  const bool releases = thread < sharers;
  typename All::Pipeline::State before = state;
  KG_ROLLED
  for (int slice = 0; slice < slices; ++slice) {
    const unsigned char* const a = memory + state.stage() * kTile.stage_bytes();
    const ptx::MatrixDescriptor of_a = All::A::matrix(a, row);
    const ptx::MatrixDescriptor of_b = All::B::matrix(a + All::A::kBytes);
    pipeline.consumer_wait(state);
    ptx::wgmma_fence();
    KG_UNROLL
    for (unsigned step = 0; step < All::A::kSteps; ++step)
      ptx::wgmma<kElement<T>, All::A::kIsAlongK, All::B::kIsAlongK>(
          sums, of_a + step * All::A::kStepBytes, of_b + step * All::B::kStepBytes, true);
    ptx::wgmma_commit();
    ptx::wgmma_wait_group<1>();
    if (slice > 0 && releases) pipeline.consumer_release(before, thread);
    before = state;
    state.advance();
  }
  ptx::wgmma_wait_group<0>(sums);
  if (slices > 0 && releases) pipeline.consumer_release(before, thread);
}

// Puts those of a warp's sums that lie in the upper (half 0) or lower 8 of its 16 rows into shared
// memory, kPitch floats from row to row.
template <int kPitch, int kCount>
__device__ __forceinline__ void gather_half(const float (&sums)[kCount], int half, float* rows) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  float* const to = rows + lane / 4 * kPitch + lane % 4 * 2;
  const auto store = [&](int first) __attribute__((always_inline)) {
    KG_UNROLL
    for (int j = 0; j < kCount / 4; ++j)
      ptx::store_shared(reinterpret_cast<float2*>(to + 8 * j),
                        float2{sums[4 * j + first], sums[4 * j + first + 1]});
  };
  half == 0 ? store(0) : store(2);
}

// A warp's 16 rows of C, from `row` on.
template <Tile kTile, class T>
__device__ __forceinline__ void finish_rows(const BasicProblem<T>& p, std::int64_t product,
                                            std::int64_t row, std::int64_t column, float* staged,
                                            const float (&sums)[kTile.n / 2]) {
  constexpr RowsOfTile kRows{kTile.n, staging_pitch(kTile), 32};
  KG_ROLLED
  for (int half = 0; half < 2; ++half, row += kStagedRows) {
    const std::int64_t left = p.m - row;
    if (left <= 0) break;
    __syncwarp();
    gather_half<kRows.pitch>(sums, half, staged);
    __syncwarp();
    const int rows = left < kStagedRows ? static_cast<int>(left) : kStagedRows;
    write_rows<kRows, kPackElements<T>, false>(p, product, row, column, rows, staged);
  }
}

} // namespace

template <class T, bool kWide, bool kTransposeA, bool kTransposeB>
__global__ void __launch_bounds__(tile_of(kWide).threads(), 1)
    wgmma(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
          const __grid_constant__ TensorMap c, BasicProblem<T> p, TileGrid grid, int slices,
          unsigned sharers) {
  constexpr Tile kTile = tile_of(kWide);
  using All = Slices<T, kTile, kTransposeA, kTransposeB>;
  unsigned char* const memory = swizzled_tiles();
  auto& pipeline = *reinterpret_cast<typename All::Pipeline*>(memory + mbarriers_at(kTile));
  if (threadIdx.x == 0) pipeline.init(sharers * kTile.consumers());
  ptx::cluster_sync();

  const int warp = static_cast<int>(threadIdx.x) / 32, warpgroup = warp / 4;
  if (warpgroup == kTile.consumers()) {
    ptx::setmaxnreg_dec<kProducerRegisters>();
    if (warp % 4 == 0 && ptx::elect_sync())
      produce<All, kTile>(a, b, p, grid, slices, sharers, memory, pipeline);
  } else {
    ptx::setmaxnreg_inc<kConsumerRegisters>();
    using Store = WarpStore<T, kTile.n>;
    static_assert(Store::kBytes <= staging_bytes(kTile));
    unsigned char* const staged = memory + kTile.pipeline_bytes() + warp * staging_bytes(kTile);
    const bool plain = p.epilogue == Epilogue::none && !reads_c(p);
    typename All::Pipeline::State state;
    for (TileScheduler scheduler(grid); scheduler.has_tile(); scheduler.advance()) {
      float sums[kTile.n / 2] = {}; // from +0 on
      multiply<T, All, kTile>(slices, warpgroup * kWarpgroupRows, sharers, memory, pipeline, state,
                              sums);
      const TilePlace tile = scheduler.place();
      const std::int64_t row = std::int64_t{tile.row} * kTile.m + warp * 16;
      const std::int64_t column = std::int64_t{tile.column} * kTile.n;
      if (plain)
        Store::begin(c, static_cast<int>(row), static_cast<int>(column),
                     static_cast<int>(scheduler.product()), p.alpha, sums, staged);
      else
        finish_rows<kTile>(p, scheduler.product(), row, column, reinterpret_cast<float*>(staged),
                           sums);
    }
    Store::end();
  }
  // The other block's consumers release the last stages of this block, too.
  __syncwarp();
  ptx::cluster_sync();
}

namespace {

// How many blocks of a cluster share slices of B: tiles 2 i and 2 i + 1 of an even number of rows
// of tiles lie in one column of tiles (tile_scheduler.h).
template <class T>
unsigned sharers_of(const BasicProblem<T>& p, const Tile& tile) {
  return div_up(p.m, tile.m) % kSharers == 0 ? kSharers : 1;
}

template <class T, bool kWide, bool kTransposeA, bool kTransposeB>
void launch_wgmma(const BasicProblem<T>& p, Stream& stream) {
  constexpr Tile kTile = tile_of(kWide);
  using All = Slices<T, kTile, kTransposeA, kTransposeB>;
  const TensorType type = dtype_of<T> == Dtype::f16 ? TensorType::f16 : TensorType::bf16;
  TensorMap a{}, b{};
  if (p.k > 0) { // else A and B may be null
    a = All::A::map(p.a, type, p.m, p.k, p.lda, p.batch, p.stride_a);
    b = All::B::map(p.b, type, p.n, p.k, p.ldb, p.batch, p.stride_b);
  }
  const TensorMap c = WarpStore<T, kTile.n>::map(p.c, type, p.m, p.n, p.ldc, p.batch, p.stride_c);
  const std::int64_t tiles_m = div_up(p.m, kTile.m), tiles_n = div_up(p.n, kTile.n);
  const unsigned tiles = count_blocks(tiles_m, tiles_n, p.batch);
  const TileGrid grid{static_cast<unsigned>(tiles_m), static_cast<unsigned>(tiles_n),
                      static_cast<unsigned>(p.batch)};
  auto* const kernel = wgmma<T, kWide, kTransposeA, kTransposeB>;
  const unsigned sharers = sharers_of(p, kTile);
  LaunchConfig config{.grid = 1,
                      .block = dim3(static_cast<unsigned>(kTile.threads())),
                      .shared_bytes = kSharedBytes<kTile>,
                      .stream = &stream,
                      .cluster = {sharers, 1, 1}};
  const int places = sharers > 1 ? resident_clusters(kernel, config) : device_properties().sm_count;
  config.grid = dim3(sharers * std::min(tiles / sharers, static_cast<unsigned>(places)));
  launch(kernel, config, a, b, c, p, grid, static_cast<int>(div_up(p.k, All::kDepth)), sharers);
}

template <class T, bool kWide>
void launch_wgmma(const BasicProblem<T>& p, Stream& stream) {
  const bool transpose_b = p.transpose_b == Transpose::yes;
  if (p.transpose_a == Transpose::yes) {
    transpose_b ? launch_wgmma<T, kWide, true, true>(p, stream)
                : launch_wgmma<T, kWide, true, false>(p, stream);
  } else {
    transpose_b ? launch_wgmma<T, kWide, false, true>(p, stream)
                : launch_wgmma<T, kWide, false, false>(p, stream);
  }
}

// Clocks of a step of k, by L2 or the matrix units (see above), alone and of blocks that share B;
// the ends of a tile are those of its sums.
struct StepClocks {
  double alone, shared;
};
constexpr StepClocks kSquareStep{13.2, 9.9}, kWideStep{19.8, 16};
constexpr double kSquareEnds = 1000, kWideEnds = 1500;

template <class T>
double clocks_with_epilogue(const BasicProblem<T>& p, const Tile& tile, const StepClocks& step,
                            double ends) {
  TileTime time{tile.m, tile.n, sharers_of(p, tile) > 1 ? step.shared : step.alone, ends};
  time.ends += epilogue_clocks(p, time);
  return clocks(p, time);
}

} // namespace

template <class T>
bool wgmma_fits(const BasicProblem<T>& p) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max() - kWideTile.n;
  constexpr std::int64_t kMostStride = std::int64_t{1} << 38; // elements, below a map's 2^40 bytes
  return p.m <= kMost && p.n <= kMost && p.k <= kMost && p.batch <= kMost &&
         std::max({p.lda, p.ldb, p.ldc, p.stride_a, p.stride_b, p.stride_c}) < kMostStride &&
         rows_are_aligned(p.a, p.lda, p.stride_a) && rows_are_aligned(p.b, p.ldb, p.stride_b) &&
         packs_fit(p);
}

template <class T>
TileShape tile_shape_of_wgmma(const BasicProblem<T>& p) {
  if (p.tiles != TileShape::automatic) return p.tiles;
  return clocks_with_epilogue(p, kWideTile, kWideStep, kWideEnds) <
                 clocks_with_epilogue(p, kSquareTile, kSquareStep, kSquareEnds)
             ? TileShape::wide
             : TileShape::square;
}

template <class T>
void run_wgmma(const BasicProblem<T>& p, Stream& stream) {
  if (tile_shape_of_wgmma(p) == TileShape::wide) return launch_wgmma<T, true>(p, stream);
  launch_wgmma<T, false>(p, stream);
}

template bool wgmma_fits(const BasicProblem<f16>&);
template bool wgmma_fits(const BasicProblem<bf16>&);
template TileShape tile_shape_of_wgmma(const BasicProblem<f16>&);
template TileShape tile_shape_of_wgmma(const BasicProblem<bf16>&);
template void run_wgmma(const BasicProblem<f16>&, Stream&);
template void run_wgmma(const BasicProblem<bf16>&, Stream&);

} // namespace kg::gemm
