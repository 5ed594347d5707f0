// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gemm, variant wgmma, for f16 and bf16 on compute capability 9.0: persistent blocks, one per
// multiprocessor, process tiles of C of 128x256, or 128x128 if the former are too few. A producer
// warp issues bulk copies of slices of 64 steps of k into a pipeline of stages in shared memory,
// and starts on the next tile while the previous one is finished. Two consumer warpgroups multiply
// 64 rows each with wgmma, which reads both operands from shared memory. setmaxnreg moves the
// producer's spare registers to the consumers, for 128 sums per thread.
//
// A row-major A and a transposed B are contiguous along k, other operands along m or n. wgmma
// accepts 16-bit elements in either order, so nothing is transposed. The copies fill elements out
// of range with zeros. One group of wgmma stays pending while the next slice is awaited; the
// previous slice's stage is released then. Finished sums are scaled, rounded and stored by bulk
// copies that overlap the next tile (warp_store.h). Sums that need C, a bias or z pass through
// shared memory in f32, 8 rows of a warp at a time. The other variants' epilogue (finish.h) then
// processes whole rows by 16-byte accesses. In both cases no warp waits for another.
//
// If the number of tile rows is even, two blocks of a cluster take a pair of vertically adjacent
// tiles and share slices of B: each block multicasts half a slice to both. The blocks therefore
// stay within a pipeline's length of each other. With an odd number of tile rows, blocks work
// alone.
//
// Tensor maps require rows of all matrices to be aligned to 16 bytes. mma handles other problems.
//
// Bytes: a block reads (128 + 256) k elements from L2 or memory, 85 flops per byte; with shared B,
// (128 + 128) k, 128 flops per byte (128x128: 64 and 85). Modelled, not measured. 144 KiB are in
// flight. Flops: 2 m n k. Limits on an H200, in flops per clock and multiprocessor: Tensor Cores
// 4,096; shared memory 6,554 (a 128-clock instruction reads 80 of 128 bytes per clock); L2, at 38.8
// bytes per clock, 3,310 (128x128: 2,483), with shared B 4,966 (3,310). A tile adds about 1,500
// clocks: 512 for its 64 KiB through shared memory, and a first slice's products alone. With an
// epilogue it adds 4,000, since 128 KiB of sums are written to shared memory and read back.
// Expected for m, n, k >= 4096: 95 % of the dense peak, or what the GPU's power limit permits, as
// for cuBLAS. The ends of tiles cost 2 %, and a tail wave that fills 88 % of the device 3 %.
// Without sharing B: L2's 81 %, less the same. Why not mma's loop: mma.sync reaches 63 % of the
// Tensor Cores and takes its operands through registers. Why a warpgroup has 64 rows of 256 columns
// and not 128 of 128: two instructions of 128 columns would read 96 bytes per clock. Why C is not
// stored from registers: wgmma's register layout would write rows 16 bytes at a time. Why two
// blocks share B and not four: Tensor Cores are the limit with two, and each further block adds
// waiting.
#include "ops/gemm/finish.h"
#include "ops/gemm/tile_rows.h"
#include "ops/gemm/tile_time.h"
#include "ops/gemm/variants.h"

#include "instructions/cluster.h"
#include "instructions/elect.h"
#include "instructions/setmaxnreg.h"
#include "instructions/store_shared.h"
#include "primitives/warp_store.h"
#include "primitives/warpgroup_product.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <limits>

namespace kg::gemm {
namespace {

constexpr Tile kSquareTile{.m = 128, .n = 128, .stages = 5};
constexpr Tile kWideTile{.m = 128, .n = 256, .stages = 3};
__host__ __device__ constexpr Tile tile_of(bool wide) { return wide ? kWideTile : kSquareTile; }

// A warp's sums on their way to C: 8 rows, with a pitch that spreads the 4 rows and 8 columns that
// a half-warp stores over all banks.
constexpr int kStagedRows = 8;
constexpr int staging_pitch(const Tile& tile) { return tile.n + 8; } // floats
// Bytes per warp: enough for its 16 rows of results (WarpStore), or for 8 rows of sums.
constexpr int staging_bytes(const Tile& tile) {
  const int sums = kStagedRows * staging_pitch(tile) * static_cast<int>(sizeof(float));
  return (sums + kPatternBytes - 1) / kPatternBytes * kPatternBytes;
}
template <Tile kTile>
using Memory = TileMemory<kTile, staging_bytes(kTile)>;

template <class T, Tile kTile, bool kTransposeA, bool kTransposeB>
using Product = WarpgroupProduct<T, kMatrixElement<T>, kTile, !kTransposeA, kTransposeB>;

// Writes the sums in the upper (half 0) or lower 8 of a warp's 16 rows to shared memory, rows
// kPitch floats apart.
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

// Writes a warp's 16 rows of C, starting at `row`.
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
  using Own = Product<T, kTile, kTransposeA, kTransposeB>;
  unsigned char* const memory = swizzled_tiles();
  auto& pipeline = Memory<kTile>::pipeline(memory);
  if (threadIdx.x == 0) pipeline.init(sharers * kTile.consumers());
  ptx::cluster_sync();

  const int warp = static_cast<int>(threadIdx.x) / 32, warpgroup = warp / 4;
  if (warpgroup == kTile.consumers()) {
    ptx::setmaxnreg_dec<kProducerRegisters>();
    if (warp % 4 == 0 && ptx::elect_sync())
      Own::produce(a, b, {p.stride_a == 0, p.stride_b == 0}, grid, slices, sharers, memory,
                   pipeline);
  } else {
    ptx::setmaxnreg_inc<kConsumerRegisters>();
    using Store = WarpStore<T, kTile.n>;
    static_assert(Store::kBytes <= staging_bytes(kTile));
    unsigned char* const staged = Memory<kTile>::staging(memory, warp);
    const bool plain = p.epilogue == Epilogue::none && !reads_c(p);
    typename Own::Pipeline::State state;
    for (TileScheduler scheduler(grid); scheduler.has_tile(); scheduler.advance()) {
      float sums[kTile.n / 2] = {}; // sums start from +0
      Own::multiply(slices, warpgroup * kWarpgroupRows, sharers, memory, pipeline, state, sums);
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
  // The other block's consumers also release this block's last stages.
  __syncwarp();
  ptx::cluster_sync();
}

namespace {

template <class T, bool kWide, bool kTransposeA, bool kTransposeB>
void launch_wgmma(const BasicProblem<T>& p, Stream& stream) {
  constexpr Tile kTile = tile_of(kWide);
  using Own = Product<T, kTile, kTransposeA, kTransposeB>;
  TensorMap a{}, b{};
  if (p.k > 0) { // else A and B may be null
    a = Own::A::map(p.a, kTensorType<T>, p.m, p.k, p.lda, p.batch, p.stride_a);
    b = Own::B::map(p.b, kTensorType<T>, p.n, p.k, p.ldb, p.batch, p.stride_b);
  }
  const TensorMap c =
      WarpStore<T, kTile.n>::map(p.c, kTensorType<T>, p.m, p.n, p.ldc, p.batch, p.stride_c);
  const std::int64_t tiles_m = div_up(p.m, kTile.m), tiles_n = div_up(p.n, kTile.n);
  const unsigned tiles = count_blocks(tiles_m, tiles_n, p.batch);
  const TileGrid grid{static_cast<unsigned>(tiles_m), static_cast<unsigned>(tiles_n),
                      static_cast<unsigned>(p.batch)};
  auto* const kernel = wgmma<T, kWide, kTransposeA, kTransposeB>;
  const unsigned sharers = sharers_of(tiles_m);
  const LaunchConfig config =
      persistent_launch(kernel, kTile, Memory<kTile>::kBytes, tiles, sharers, stream);
  launch(kernel, config, a, b, c, p, grid, static_cast<int>(div_up(p.k, Own::kDepth)), sharers);
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

// Clocks per step of k, limited by L2 or Tensor Cores (see above), for a block alone and for blocks
// that share B. The end of a tile is the output of its sums.
struct StepClocks {
  double alone, shared;
};
constexpr StepClocks kSquareStep{13.2, 9.9}, kWideStep{19.8, 16};
constexpr double kSquareEnds = 1000, kWideEnds = 1500;

template <class T>
double clocks_with_epilogue(const BasicProblem<T>& p, const Tile& tile, const StepClocks& step,
                            double ends) {
  TileTime time{tile.m, tile.n, sharers_of(div_up(p.m, tile.m)) > 1 ? step.shared : step.alone,
                ends};
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
