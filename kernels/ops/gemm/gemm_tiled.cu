// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gemm, variant tiled, small tiles (wide ones: gemm_tiled_wide.cu): a block computes a 64x64 tile
// of C with 64 threads, 8x8 elements each in registers.
//
// The main loop takes slices of 16 along k: 64x16 elements each of A and B pass through registers
// to shared memory, both stored [k][m or n]. One step of k reads two fragments of 8 floats per
// thread, by 16-byte accesses, for 64 multiply-adds. Slices are double-buffered: one barrier per
// slice, with the next slice's global reads in flight while this one is used. The finished tile
// passes through the same shared memory, so that C is accessed in whole rows.
//
// Bytes: a block reads (64 + 64) k floats from L2 or memory, 16 flops per byte; shared memory
// delivers 64 bytes per thread for 128 flops, most of them broadcast within a warp. Flops: 2 m n k.
// Expected on an H200, not measured: 55 to 65 % of the f32 peak for m, n >= 2048, limited by four
// 16-byte shared reads per 64 multiply-adds and by 12 warps per multiprocessor (164 registers).
// Small tiles are for a C with too few wide tiles to fill the device.
//
// Why gaps in shared memory and not a swizzle: gaps keep each fragment contiguous for 6 % more
// memory; a CPU compiler can then keep a row of the fragment product in one vector register.
#include "ops/gemm/finish.h"
#include "ops/gemm/simt_tile.h"
#include "ops/gemm/variants.h"

#include "runtime/launch.h"

#include <limits>
#include <string>

namespace kg::gemm {

// A tile's row in vectors of kCount elements, one per thread.
template <int kCount>
__device__ __forceinline__ Floats<kCount> sums_at(const float* from) {
  Floats<kCount> sums;
  if constexpr (kCount == 1)
    sums.value[0] = *from;
  else
    read(from, sums.value);
  return sums;
}

// Gathers the block's tile of C in shared memory, so that C is accessed in whole rows.
template <Tile kT, int kCount, class Destination>
__device__ __forceinline__ void write(const Destination& to, unsigned product, unsigned tile_m,
                                      unsigned tile_n, const float* tile) {
  const std::int64_t row0 = std::int64_t{tile_m} * kT.m;
  const std::int64_t column0 = std::int64_t{tile_n} * kT.n;
  constexpr int kPitch = kT.n + kQuad;
  constexpr int kPacks = kT.n / kCount;
  const int rows = static_cast<int>(to.m - row0 < kT.m ? to.m - row0 : kT.m);
  const int column = static_cast<int>(threadIdx.x) % kPacks * kCount;
  if (column0 + column >= to.n) return;
  for (int row = static_cast<int>(threadIdx.x) / kPacks; row < rows; row += kT.threads() / kPacks)
    finish<kCount>(to, product, row0 + row, (column0 + column) / kCount,
                   sums_at<kCount>(tile + row * kPitch + slot(column)));
}

// Minimum resident blocks per multiprocessor, which limits registers: 6 keep 12 warps without
// spills; Turing's 64 KiB of shared memory hold 3.
constexpr int least_blocks() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  return 3;
#else
  return 6;
#endif
}

// One block per tile. Neighbouring blocks share a slice of B if B is not transposed, else of A.
// Such a slice consists of short pieces of many distant rows, which caches keep but prefetchers do
// not predict. tiles: per C; fast_tiles: along the dimension that varies fastest over blocks.
// split: each block computes a part of k. kVector: 16-byte accesses to A and B are aligned; packs:
// see packs_fit().
template <bool kTransposeA, bool kTransposeB, bool kVector>
__global__ void __launch_bounds__(kTile.threads(), least_blocks())
    tiled(Problem p, Split split, unsigned tiles, unsigned fast_tiles, bool packs) {
  constexpr Tile kT = kTile; // nvcc 13 rejects a kernel with a template argument of class type
  constexpr Slice kSliceA{kT.m, kT.k, kT.threads(), !kTransposeA, kVector};
  constexpr Slice kSliceB{kT.n, kT.k, kT.threads(), kTransposeB, kVector};
  const int thread = static_cast<int>(threadIdx.x);
  const int thread_row = thread / kT.threads_n() * kT.thread_m;
  const int thread_column = thread % kT.threads_n() * kT.thread_n;
  const unsigned part = blockIdx.x / tiles; // counts the parts of all products
  const unsigned product = part / split.parts;
  const Steps steps = steps_of(split, part, p.k);
  const unsigned tile = blockIdx.x % tiles;
  const unsigned tile_m = kTransposeB ? tile / fast_tiles : tile % fast_tiles;
  const unsigned tile_n = kTransposeB ? tile % fast_tiles : tile / fast_tiles;
  const std::int64_t row0 = std::int64_t{tile_m} * kT.m;
  const std::int64_t column0 = std::int64_t{tile_n} * kT.n;

  Operand a{p.a + product * p.stride_a + (kTransposeA ? row0 : row0 * p.lda) +
                steps.first * (kTransposeA ? p.lda : 1),
            p.lda, static_cast<int>(p.m - row0 < kT.m ? p.m - row0 : kT.m)};
  Operand b{p.b + product * p.stride_b + (kTransposeB ? column0 * p.ldb : column0) +
                steps.first * (kTransposeB ? 1 : p.ldb),
            p.ldb, static_cast<int>(p.n - column0 < kT.n ? p.n - column0 : kT.n)};
  constexpr int kBuffer = kSliceA.floats() + kSliceB.floats();
  static_assert(kT.m <= 64 && kT.n <= 64, "slot() has one gap per row");
  static_assert(kT.m * kSliceB.pitch() <= 2 * kBuffer, "the tile of C takes the buffers' place");
  float* shared = dynamic_shared<float>();

  float staged_a[kSliceA.per_thread()];
  float staged_b[kSliceB.per_thread()];
  float sum[kT.thread_m][kT.thread_n] = {};

  const int slices = static_cast<int>((steps.count + kT.k - 1) / kT.k);
  const int last_depth = static_cast<int>(steps.count - (slices - 1) * std::int64_t{kT.k});
  // Always inline; otherwise a compiler that does not inline the lambda keeps the captured elements
  // in memory.
  const auto fetch_slice = [&](int slice) __attribute__((always_inline)) {
    const int depth = slice + 1 == slices ? last_depth : kT.k;
    fetch<kSliceA>(a, depth, thread, staged_a);
    fetch<kSliceB>(b, depth, thread, staged_b);
  };
  const auto store_slice = [&](int slice) __attribute__((always_inline)) {
    float* buffer = shared + slice % 2 * kBuffer;
    store<kSliceA>(staged_a, thread, buffer);
    store<kSliceB>(staged_b, thread, buffer + kSliceA.floats());
  };

  if (slices > 0) {
    fetch_slice(0);
    store_slice(0);
  }
  for (int slice = 0; slice < slices; ++slice) {
    __syncthreads();
    const bool more = slice + 1 < slices;
    if (more) {
      a.data += kTransposeA ? kT.k * p.lda : kT.k;
      b.data += kTransposeB ? kT.k : kT.k * p.ldb;
      fetch_slice(slice + 1);
    }
    const float* buffer = shared + slice % 2 * kBuffer;
    multiply<kT, kSliceA, kSliceB>(buffer + slot(thread_row),
                                   buffer + kSliceA.floats() + slot(thread_column), sum);
    if (more) store_slice(slice + 1);
  }

  __syncthreads();
  put<kT>(sum, thread_row, thread_column, shared);
  __syncthreads();
  if (split.sums.data != nullptr)
    write<kT, kQuad>(split.sums, part, tile_m, tile_n, shared);
  else if (packs)
    write<kT, kQuad>(p, product, tile_m, tile_n, shared);
  else
    write<kT, 1>(p, product, tile_m, tile_n, shared);
}

namespace {

template <bool kTransposeA, bool kTransposeB, bool kVector>
void launch_tiled(const Problem& p, const Split& split, Stream& stream) {
  const std::int64_t tiles_m = (p.m + kTile.m - 1) / kTile.m;
  const std::int64_t tiles_n = (p.n + kTile.n - 1) / kTile.n;
  require(p.k <= std::int64_t{kTile.k} * std::numeric_limits<std::int32_t>::max(),
          "gemm: k is " + std::to_string(p.k) + ", more than 2^31 slices of 16; split the problem");
  constexpr int kSharedFloats = 2 * kTile.k * (kTile.m + kTile.n + 2 * kQuad);
  launch(tiled<kTransposeA, kTransposeB, kVector>,
         {.grid = dim3(count_blocks(tiles_m, tiles_n, p.batch * split.parts)),
          .block = dim3(static_cast<unsigned>(kTile.threads())),
          .shared_bytes = kSharedFloats * sizeof(float),
          .stream = &stream},
         p, split, static_cast<unsigned>(tiles_m * tiles_n),
         static_cast<unsigned>(kTransposeB ? tiles_n : tiles_m), packs_fit(p));
}

template <bool kTransposeA, bool kTransposeB>
void launch_tiled(const Problem& p, const Split& split, Stream& stream) {
  if (rows_are_aligned(p.a, p.lda, p.stride_a) && rows_are_aligned(p.b, p.ldb, p.stride_b)) {
    launch_tiled<kTransposeA, kTransposeB, true>(p, split, stream);
  } else {
    launch_tiled<kTransposeA, kTransposeB, false>(p, split, stream);
  }
}

} // namespace

void run_tiled(const Problem& p, const Split& split, Stream& stream) {
  if (split.sums.data == nullptr && tile_shape_of_tiled(p) == TileShape::wide)
    return run_tiled_wide(p, stream);
  const bool transpose_a = p.transpose_a == Transpose::yes;
  const bool transpose_b = p.transpose_b == Transpose::yes;
  if (transpose_a) {
    transpose_b ? launch_tiled<true, true>(p, split, stream)
                : launch_tiled<true, false>(p, split, stream);
  } else {
    transpose_b ? launch_tiled<false, true>(p, split, stream)
                : launch_tiled<false, false>(p, split, stream);
  }
}

} // namespace kg::gemm
