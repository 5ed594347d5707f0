// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gemm, variant mma, for f16, bf16 and, where the problem allows it, for f32 by TF32: a block of 4
// warps computes a 128x128 tile of C by matrix instructions, 64x64 elements per warp in f32
// registers.
//
// k is walked in slices of 64 bytes, 32 elements or 16 floats, three of which are in shared memory:
// while one is used, two are on their way by cp.async, 16 bytes at a time. One barrier per slice
// says that a slice has come and that the oldest one may be overwritten. A warp reads fragments by
// ldmatrix, 8 for 64 rows of A and 64 columns of B, and uses them in 32 mma; floats are rounded to
// TF32 in between. The finished tile goes through the same shared memory in two halves, in f32, so
// that C is read and written in whole rows, 16 bytes at a time, and rounded once.
//
// A and B that 16-byte copies do not fit (a base or a row that is no multiple of 16 bytes) go
// element by element through registers, which is several times slower.
//
// Bytes: a block reads (128 + 128) k elements, 64 flops per byte (TF32: 32), from L2 or memory;
// shared memory gives a warp 4 KiB for 131072 flops (65536). Flops: 2 m n k. Expected share on an
// H200, not measured: 45 to 55 % of the dense peak of its matrix units for m, n >= 4096; mma
// reaches at most 65 % there, the rest is for wgmma. Why not 64x64 tiles, which fill the device
// from 750x750 on: they read twice as much per flop, and their warps do two mma per ldmatrix. Why
// three slices and not four: 48 KiB let two blocks share a multiprocessor that has 100 KiB. Why
// floats are not rounded on their way to shared memory: cp.async cannot, and 64 conversions for 64
// mma are issued beside them.
#include "gemm/finish.h"
#include "gemm/mma_slice.h"
#include "gemm/mma_tile.h"
#include "gemm/mma_walk.h"
#include "gemm/variants.h"

#include "runtime/launch.h"

#include <limits>
#include <string>

namespace kg::gemm {

// Rows of tiles that neighbouring blocks share: their operands stay in L2, those of a whole row or
// column of tiles of a large C would not.
inline constexpr std::int64_t kTilesInGroup = 16;

// Where a tile of C begins.
struct TileOrigin {
  std::int64_t row, column;
};
__device__ inline TileOrigin origin(std::int64_t block, std::int64_t tiles_m,
                                    std::int64_t tiles_n) {
  const std::int64_t group = block / (kTilesInGroup * tiles_n);
  const std::int64_t in_group = block % (kTilesInGroup * tiles_n);
  const std::int64_t left = tiles_m - group * kTilesInGroup;
  const std::int64_t rows = left < kTilesInGroup ? left : kTilesInGroup;
  return {(group * kTilesInGroup + in_group % rows) * kMma.m, in_group / rows * kMma.n};
}

// A pack of sums from shared memory.
template <int kCount>
__device__ __forceinline__ Floats<kCount> sums_at(const float* from, int pack) {
  static_assert(kCount == 1 || kCount == 4 || kCount == 8, "one element, or accesses of 16 bytes");
  Floats<kCount> sums;
  if constexpr (kCount == 1) {
    sums.value[0] = *from;
  } else {
    // Of 8 neighbouring lanes with two accesses each, four read the first half of their pack first
    // and four the second: together all banks, once.
    constexpr int kQuads = kCount / 4;
    const int turn = pack / 4 % kQuads;
    float4 quad[kQuads];
    KG_UNROLL
    for (int i = 0; i < kQuads; ++i)
      quad[i] = *reinterpret_cast<const float4*>(from + 4 * (i ^ turn));
    KG_UNROLL
    for (int i = 0; i < kQuads; ++i) {
      const float4 own = turn == 0 ? quad[i] : quad[kQuads - 1 - i];
      sums.value[4 * i + 0] = own.x;
      sums.value[4 * i + 1] = own.y;
      sums.value[4 * i + 2] = own.z;
      sums.value[4 * i + 3] = own.w;
    }
  }
  return sums;
}

// Writes half a tile of C, of which `rows` exist, from shared memory.
template <int kCount, class Destination>
__device__ __forceinline__ void write(const Destination& to, std::int64_t product,
                                      std::int64_t row0, std::int64_t column0, int rows,
                                      const float* sums) {
  constexpr int kPacks = kMma.n / kCount;
  const int pack = static_cast<int>(threadIdx.x) % kPacks;
  if (column0 + pack * kCount >= to.n) return;
  for (int row = static_cast<int>(threadIdx.x) / kPacks; row < rows; row += kMma.threads() / kPacks)
    finish<kCount>(to, product, row0 + row, column0 / kCount + pack,
                   sums_at<kCount>(sums + row * kMma.pitch() + pack * kCount, pack));
}

// split: blocks have a part of k each. vector_a, vector_b: 16-byte accesses to the matrices are
// aligned; packs: those of `finish`.
template <class T, bool kTransposeA, bool kTransposeB>
__global__ void __launch_bounds__(kMma.threads(), 2)
    mma(BasicProblem<T> p, Split split, std::int64_t tiles_m, std::int64_t tiles_n, bool vector_a,
        bool vector_b, bool packs) {
  using SliceA = MmaSlice<T, kMma.m, kDepth<T>, !kTransposeA, kMma.threads()>;
  using SliceB = MmaSlice<T, kMma.n, kDepth<T>, kTransposeB, kMma.threads()>;
  const auto part = static_cast<unsigned>(blockIdx.x / (tiles_m * tiles_n)); // of all products
  const auto [row0, column0] = origin(blockIdx.x - part * tiles_m * tiles_n, tiles_m, tiles_n);
  const unsigned product = part / split.parts;
  const Steps steps = steps_of(split, part, p.k);
  const int rows = static_cast<int>(p.m - row0 < kMma.m ? p.m - row0 : kMma.m);
  const int columns = static_cast<int>(p.n - column0 < kMma.n ? p.n - column0 : kMma.n);
  const WarpPart own = warp_part(rows, columns);

  MmaOperand<T> a{p.a + product * p.stride_a + (kTransposeA ? row0 : row0 * p.lda) +
                      steps.first * (kTransposeA ? p.lda : 1),
                  p.lda, rows, vector_a};
  MmaOperand<T> b{p.b + product * p.stride_b + (kTransposeB ? column0 * p.ldb : column0) +
                      steps.first * (kTransposeB ? 1 : p.ldb),
                  p.ldb, columns, vector_b};
  const auto fetch = [&](int, int depth, T* to_a, T* to_b) __attribute__((always_inline)) {
    SliceA::fetch(a, depth, to_a);
    SliceB::fetch(b, depth, to_b);
    a.data += kTransposeA ? kDepth<T> * p.lda : kDepth<T>;
    b.data += kTransposeB ? kDepth<T> : kDepth<T> * p.ldb;
  };
  WarpSum sum = {};
  multiply_slices<T, SliceA, SliceB>(steps.count, own, fetch, sum);

  float* const half = dynamic_shared<float>();
  for (int first = 0; first < rows; first += kMma.warp) {
    __syncthreads();
    if (own.row == first) gather(sum, own.column, half);
    __syncthreads();
    const int left = rows - first < kMma.warp ? rows - first : kMma.warp;
    if (split.sums.data != nullptr)
      write<kPackElements<float>>(split.sums, part, row0 + first, column0, left, half);
    else if (packs)
      write<kPackElements<T>>(p, product, row0 + first, column0, left, half);
    else
      write<1>(p, product, row0 + first, column0, left, half);
  }
}

namespace {

template <class T, bool kTransposeA, bool kTransposeB>
void launch_mma(const BasicProblem<T>& p, const Split& split, Stream& stream) {
  const std::int64_t tiles_m = (p.m + kMma.m - 1) / kMma.m;
  const std::int64_t tiles_n = (p.n + kMma.n - 1) / kMma.n;
  require(p.k <= std::int64_t{kDepth<T>} * std::numeric_limits<std::int32_t>::max(),
          "gemm: k is " + std::to_string(p.k) + ", more than 2^31 slices of " +
              std::to_string(kDepth<T>) + "; split the problem");
  launch(mma<T, kTransposeA, kTransposeB>,
         {.grid = dim3(count_blocks(tiles_m, tiles_n, p.batch * split.parts)),
          .block = dim3(static_cast<unsigned>(kMma.threads())),
          .shared_bytes = static_cast<std::size_t>(kMma.shared_bytes()),
          .stream = &stream},
         p, split, tiles_m, tiles_n, rows_are_aligned(p.a, p.lda, p.stride_a),
         rows_are_aligned(p.b, p.ldb, p.stride_b), packs_fit(p));
}

} // namespace

template <class T>
void run_mma(const BasicProblem<T>& p, const Split& split, Stream& stream) {
  const bool transpose_a = p.transpose_a == Transpose::yes;
  const bool transpose_b = p.transpose_b == Transpose::yes;
  if (transpose_a) {
    transpose_b ? launch_mma<T, true, true>(p, split, stream)
                : launch_mma<T, true, false>(p, split, stream);
  } else {
    transpose_b ? launch_mma<T, false, true>(p, split, stream)
                : launch_mma<T, false, false>(p, split, stream);
  }
}

template void run_mma(const BasicProblem<float>&, const Split&, Stream&);
template void run_mma(const BasicProblem<f16>&, const Split&, Stream&);
template void run_mma(const BasicProblem<bf16>&, const Split&, Stream&);

} // namespace kg::gemm
