// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gemm, variant mma, for f16, bf16 and, if the problem allows TF32, f32: a block computes a tile of
// C with MMA instructions, 64x64 elements per warp in f32 registers. A square tile, 128x128, takes
// 4 warps, and two blocks share a multiprocessor. A wide tile, 128x256, takes 8 warps and the whole
// multiprocessor.
//
// The main loop takes slices of 64 bytes along k: 32 elements, or 16 floats. Three slices (four for
// wide tiles) are in shared memory or in flight by 16-byte cp.async (mma_walk.h). A warp reads 8
// fragments with ldmatrix, for 64 rows of A and 64 columns of B, and issues 32 MMAs on them while
// it reads the next 8. Floats are rounded to TF32 before use. The finished tile passes through the
// same shared memory in two halves, in f32, so that C is accessed in whole rows by 16-byte
// accesses, and rounded once.
//
// A second loop handles slices with partial 16-byte chunks, and whole operands whose base or row
// stride is not a multiple of 16 bytes. It sizes each copy individually, or moves single elements
// through registers, which is several times slower.
//
// Bytes: a block reads (128 + 128) k elements from L2 or memory, 64 flops per byte (TF32: 32); wide
// tiles, 85. Per 64 MMAs (262,144 flops), shared memory needs 64 wavefronts for ldmatrix and 32 for
// cp.async (wide: 24). Flops: 2 m n k. Limits on an H200, in flops per clock and multiprocessor:
// Tensor Cores with mma 2,577 (4,096 x 0.629); L2, at 38.8 bytes per clock, 2,482, wide 3,297;
// shared memory 2,731, wide 2,979. Tensor Cores alone bound wide tiles, with a margin of 13 %;
// three limits are close together for square tiles. A scheduler has 814 clocks per slice of its two
// warps, and issues 266 to 286 instructions (nvcc 13.0, sm_90a). Measured on an H200, wide tiles:
// 1,450 clocks with pointers computed in the loop, 1,040 with copies issued among fragment reads.
// Expected: 58 to 60 % of the dense peak for m, n, k >= 4096, where mma reaches at most 63 % and
// only wgmma the rest; less if the GPU's power limit lowers its clock. Why not 64x64 tiles, which
// fill the device from 750x750 on: they read twice as much per flop, with only two MMAs per
// ldmatrix. Why not four slices for square tiles: with 48 KiB, two blocks share a multiprocessor
// that has 100 KiB. Why not round floats once, on their way to shared memory or in it: cp.async
// cannot, and another read and write takes 384 wavefronts of shared memory per 64 MMAs of each
// warp; rounding fragments takes 128 instructions for these.
#include "ops/gemm/finish.h"
#include "ops/gemm/mma_slice.h"
#include "ops/gemm/mma_tile.h"
#include "ops/gemm/mma_walk.h"
#include "ops/gemm/tile_rows.h"
#include "ops/gemm/tile_time.h"
#include "ops/gemm/variants.h"

#include "runtime/device.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <limits>
#include <string>

namespace kg::gemm {

// The leading steps of k whose slices have only whole chunks: all steps, except those of a slice
// that ends within a chunk.
template <class Slice, class T>
__device__ __forceinline__ std::int64_t steps_in_chunks(const MmaOperand<T>& operand,
                                                        std::int64_t steps) {
  if (!operand.vector) return 0;
  if constexpr (Slice::kIsAlongK)
    return steps % Slice::kChunk == 0 ? steps : steps - steps % kDepth<T>;
  return operand.outer % Slice::kChunk == 0 ? steps : 0;
}

// split: each block computes a part of k. vector_a, vector_b: 16-byte accesses to A and B are
// aligned; packs: see packs_fit(). kWide: all of these hold, all chunks are whole, and k is not
// split.
template <class T, bool kWide, bool kTransposeA, bool kTransposeB>
__global__ void __launch_bounds__((kWide ? kWideMma : kMma).threads(), kWide ? 1 : 2)
    mma(BasicProblem<T> p, Split split, unsigned tiles_m, unsigned tiles_n, bool vector_a,
        bool vector_b, bool packs) {
  constexpr MmaTile kTile = kWide ? kWideMma : kMma;
  using SliceA = MmaSlice<T, kTile.m, kDepth<T>, !kTransposeA, kTile.threads()>;
  using SliceB = MmaSlice<T, kTile.n, kDepth<T>, kTransposeB, kTile.threads()>;
  const unsigned part = blockIdx.x / (tiles_m * tiles_n); // counts the parts of all products
  const TilePlace tile = place_of(blockIdx.x - part * tiles_m * tiles_n, tiles_m, tiles_n);
  const std::int64_t row0 = std::int64_t{tile.row} * kTile.m;
  const std::int64_t column0 = std::int64_t{tile.column} * kTile.n;
  const unsigned product = kWide ? part : part / split.parts;
  const Steps steps = kWide ? Steps{0, p.k} : steps_of(split, part, p.k);
  const int rows = static_cast<int>(p.m - row0 < kTile.m ? p.m - row0 : kTile.m);
  const int columns = static_cast<int>(p.n - column0 < kTile.n ? p.n - column0 : kTile.n);
  const WarpPart own = warp_part<kTile>(rows, columns);

  MmaOperand<T> a{p.a + product * p.stride_a + (kTransposeA ? row0 : row0 * p.lda) +
                      steps.first * (kTransposeA ? p.lda : 1),
                  p.lda, rows, vector_a};
  MmaOperand<T> b{p.b + product * p.stride_b + (kTransposeB ? column0 * p.ldb : column0) +
                      steps.first * (kTransposeB ? 1 : p.ldb),
                  p.ldb, columns, vector_b};
  std::int64_t whole = steps.count;
  if constexpr (!kWide) {
    const std::int64_t of_a = steps_in_chunks<SliceA>(a, steps.count);
    const std::int64_t of_b = steps_in_chunks<SliceB>(b, steps.count);
    whole = of_a < of_b ? of_a : of_b;
  }
  WarpSum sum = {};
  if (whole > 0) {
    typename SliceA::Copies copies_a(a, dynamic_shared<T>());
    typename SliceB::Copies copies_b(b, dynamic_shared<T>() + SliceA::kElements);
    multiply_whole<T, SliceA, SliceB, kTile>(whole, own, copies_a, copies_b, sum);
  }
  if constexpr (!kWide) {
    if (whole < steps.count) {
      __syncthreads();
      a.data += whole * (kTransposeA ? p.lda : 1);
      b.data += whole * (kTransposeB ? 1 : p.ldb);
      const auto fetch = [&](int, int depth, T* to_a, T* to_b) __attribute__((always_inline)) {
        SliceA::template fetch<true>(a, depth, to_a);
        SliceB::template fetch<true>(b, depth, to_b);
        a.data += kTransposeA ? kDepth<T> * p.lda : kDepth<T>;
        b.data += kTransposeB ? kDepth<T> : kDepth<T> * p.ldb;
      };
      multiply_slices<T, SliceA, SliceB, kTile>(steps.count - whole, own, fetch, sum);
    }
  }

  each_half<kTile>(
      sum, own, rows, [&](int first, int some, const float* half) __attribute__((always_inline)) {
        constexpr RowsOfTile kRows{kTile.n, kTile.pitch(), kTile.threads()};
        constexpr int kPack = kPackElements<T>;
        if constexpr (kWide)
          write_rows<kRows, kPack, kWide>(p, product, row0 + first, column0, some, half);
        else if (split.sums.data != nullptr)
          write_rows<kRows, kPackElements<float>>(split.sums, part, row0 + first, column0, some,
                                                  half);
        else if (packs)
          write_rows<kRows, kPack, kWide>(p, product, row0 + first, column0, some, half);
        else
          write_rows<kRows, 1, true>(p, product, row0 + first, column0, some, half);
      });
}

namespace {

template <class T, bool kWide, bool kTransposeA, bool kTransposeB>
void launch_mma(const BasicProblem<T>& p, const Split& split, Stream& stream) {
  constexpr MmaTile kTile = kWide ? kWideMma : kMma;
  const std::int64_t tiles_m = div_up(p.m, kTile.m);
  const std::int64_t tiles_n = div_up(p.n, kTile.n);
  require(p.k <= std::int64_t{kDepth<T>} * std::numeric_limits<std::int32_t>::max(),
          "gemm: k is " + std::to_string(p.k) + ", more than 2^31 slices of " +
              std::to_string(kDepth<T>) + "; split the problem");
  launch(mma<T, kWide, kTransposeA, kTransposeB>,
         {.grid = dim3(count_blocks(tiles_m, tiles_n, p.batch * split.parts)),
          .block = dim3(static_cast<unsigned>(kTile.threads())),
          .shared_bytes = static_cast<std::size_t>(kTile.shared_bytes()),
          .stream = &stream},
         p, split, static_cast<unsigned>(tiles_m), static_cast<unsigned>(tiles_n),
         rows_are_aligned(p.a, p.lda, p.stride_a), rows_are_aligned(p.b, p.ldb, p.stride_b),
         packs_fit(p));
}

template <class T, bool kWide>
void launch_mma(const BasicProblem<T>& p, const Split& split, Stream& stream) {
  const bool transpose_a = p.transpose_a == Transpose::yes;
  const bool transpose_b = p.transpose_b == Transpose::yes;
  if (transpose_a) {
    transpose_b ? launch_mma<T, kWide, true, true>(p, split, stream)
                : launch_mma<T, kWide, true, false>(p, split, stream);
  } else {
    transpose_b ? launch_mma<T, kWide, false, true>(p, split, stream)
                : launch_mma<T, kWide, false, false>(p, split, stream);
  }
}

// Whether wide tiles need 16-byte accesses only, and their shared memory fits the device.
template <class T>
bool wide_fits(const BasicProblem<T>& p) {
  const auto in_packs = [](std::int64_t extent) { return extent % kPackElements<T> == 0; };
  const bool whole = in_packs(p.transpose_a == Transpose::yes ? p.m : p.k) &&
                     in_packs(p.transpose_b == Transpose::yes ? p.k : p.n);
  return whole && rows_are_aligned(p.a, p.lda, p.stride_a) &&
         rows_are_aligned(p.b, p.ldb, p.stride_b) && packs_fit(p) &&
         device_properties().shared_bytes_per_block_optin >=
             static_cast<std::size_t>(kWideMma.shared_bytes());
}

// Two resident blocks of square tiles overlap Tensor Cores and L2, which need 12.7 and 13.2 clocks
// per step of 16-bit elements, plus some waiting. A wide tile takes 25.4 clocks, and nothing hides
// its prologue and epilogue: the first slices' latency, and 128 KiB of sums written to and read
// from shared memory.
template <class T>
constexpr TileTime tile_time(const MmaTile& tile) {
  const double bytes = sizeof(T) / 2.0; // TF32: half the flops per clock, twice the bytes
  const bool wide = tile.n == kWideMma.n;
  return {tile.m, tile.n, (wide ? 25.4 : 13.8) * bytes, wide ? 4500.0 : 0.0};
}

} // namespace

template <class T>
TileShape tile_shape_of_mma(const BasicProblem<T>& p) {
  return shape_of(p, wide_fits(p), tile_time<T>(kMma), tile_time<T>(kWideMma));
}

template <class T>
void run_mma(const BasicProblem<T>& p, const Split& split, Stream& stream) {
  if (split.sums.data == nullptr && tile_shape_of_mma(p) == TileShape::wide)
    return launch_mma<T, true>(p, split, stream);
  launch_mma<T, false>(p, split, stream);
}

template TileShape tile_shape_of_mma(const BasicProblem<float>&);
template TileShape tile_shape_of_mma(const BasicProblem<f16>&);
template TileShape tile_shape_of_mma(const BasicProblem<bf16>&);

template void run_mma(const BasicProblem<float>&, const Split&, Stream&);
template void run_mma(const BasicProblem<f16>&, const Split&, Stream&);
template void run_mma(const BasicProblem<bf16>&, const Split&, Stream&);

} // namespace kg::gemm
