// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gemm, variant mma, for f16, bf16 and, where the problem allows it, for f32 by TF32: a block
// computes a tile of C by matrix instructions, 64x64 elements per warp in f32 registers. A square
// tile of 128x128 is that of 4 warps, two blocks of which share a multiprocessor; a wide one of
// 128x256 that of 8, for whom a multiprocessor is just large enough.
//
// k is walked in slices of 64 bytes, 32 elements or 16 floats, three of which (of wide tiles four)
// are in shared memory or on their way there by cp.async, 16 bytes at a time (mma_walk.h). A warp
// reads fragments by ldmatrix, 8 for 64 rows of A and 64 columns of B, and uses them in 32 mma,
// while it reads the next 8; floats are rounded to TF32 before that. The finished tile goes through
// the same shared memory in two halves, in f32, so that C is read and written in whole rows, 16
// bytes at a time, and rounded once.
//
// Slices of which 16 bytes exist in part, and all of A and B where 16-byte copies do not fit (a
// base or a row that is no multiple of 16 bytes), are left to a second loop: there each copy has a
// size of its own, or elements go one by one through registers, which is several times slower.
//
// Bytes: a block reads (128 + 128) k elements, 64 flops per byte (TF32: 32), from L2 or memory; of
// wide tiles 85. Of 64 mma, 262,144 flops, shared memory has 64 passes of ldmatrix and 32 of
// cp.async, of wide tiles 24. Flops: 2 m n k. What that makes of an H200's multiprocessor, in flops
// per clock: matrix units, by mma, 2,577 (4,096 times 0.629); L2, which gives each 38.8 bytes a
// clock, 2,482, wide 3,297; shared memory 2,731, wide 2,979. Wide tiles are bound by the matrix
// units alone, with 13 % to spare; of square ones three things are busy all the time. A scheduler
// has 814 clocks for a slice of its two warps, and issues 266 to 286 instructions (nvcc 13.0,
// sm_90a). An H200 took 1,450 for a slice of wide tiles while pointers were computed in the loop,
// and 1,040 while copies started among the reads of fragments. Expected share of the
// dense peak: 58 to 60 % for m, n, k >= 4096, of 63 % that mma reaches at most, the rest being for
// wgmma; less where the GPU's power limit lowers its clock. Why not 64x64 tiles,
// which fill the device from 750x750 on: they read twice as much per flop, and their warps do two
// mma per ldmatrix. Why not four slices of square tiles: 48 KiB let two blocks share a
// multiprocessor that has 100 KiB.
// Why floats are not rounded once, on their way to shared memory or in it: cp.async cannot, and to
// read and write them once more takes shared memory 384 passes for 64 mma of each warp, while the
// rounding of fragments issues 128 instructions beside these.
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

// Steps of k, from the first on, whose slices of an operand have whole chunks: all, but for those
// of a slice that ends within one.
template <class Slice, class T>
__device__ __forceinline__ std::int64_t steps_in_chunks(const MmaOperand<T>& operand,
                                                        std::int64_t steps) {
  if (!operand.vector) return 0;
  if constexpr (Slice::kIsAlongK)
    return steps % Slice::kChunk == 0 ? steps : steps - steps % kDepth<T>;
  return operand.outer % Slice::kChunk == 0 ? steps : 0;
}

// split: blocks have a part of k each. vector_a, vector_b: 16-byte accesses to the matrices are
// aligned; packs: those of `finish`. kWide: all of that is so, chunks are whole, and k is not
// split.
template <class T, bool kWide, bool kTransposeA, bool kTransposeB>
__global__ void __launch_bounds__((kWide ? kWideMma : kMma).threads(), kWide ? 1 : 2)
    mma(BasicProblem<T> p, Split split, unsigned tiles_m, unsigned tiles_n, bool vector_a,
        bool vector_b, bool packs) {
  constexpr MmaTile kTile = kWide ? kWideMma : kMma;
  using SliceA = MmaSlice<T, kTile.m, kDepth<T>, !kTransposeA, kTile.threads()>;
  using SliceB = MmaSlice<T, kTile.n, kDepth<T>, kTransposeB, kTile.threads()>;
  const unsigned part = blockIdx.x / (tiles_m * tiles_n); // of all products
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

// Whether all accesses of wide tiles are of 16 bytes, and the device has the shared memory.
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

// Two blocks of square tiles take turns in waiting for matrix units and for L2, which need 12.7 and
// 13.2 clocks for a step of 16-bit elements, and a bit more where one is late for the other. Of a
// wide tile, 25.4 clocks, nobody hides the beginning and the end: the first slices' way from
// memory, and 128 KiB of sums twice through shared memory.
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
