// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gemm, variant tiled: a block computes a 64x64 tile of C with 64 threads, 8x8 elements each in
// registers.
//
// k is walked in slices of 16: 64x16 elements of A and of B go from global memory through registers
// into shared memory, both stored [k][m or n], so that one step of k reads two fragments of 8
// floats per thread, 16 bytes at a time, and does 64 multiply-adds with them. Slices alternate
// between two shared buffers: one barrier per slice, and the global reads of the next slice are in
// flight while this one is used. The finished tile goes through the same shared memory, so that C
// is accessed in whole rows.
//
// Bytes: a block reads (64 + 64) k floats, 16 flops per byte, from L2 or memory; shared memory
// gives 64 bytes per thread for 128 flops, most of it broadcast within a warp. Flops: 2 m n k.
// Expected share on an H200, not measured: 55 to 65 % of the f32 peak for m, n >= 2048, limited by
// 4 shared reads of 16 bytes per 64 multiply-adds and by 12 warps per multiprocessor (164
// registers). Why not 128x128 tiles, which halve both: they leave half of 132 multiprocessors idle
// at 1024x1024. Why gaps in shared memory rather than a swizzle: they keep each fragment
// contiguous, for 6 % more memory, which is also what lets a CPU compiler keep a row of the
// fragment product in one vector register.
#include "gemm/finish.h"
#include "gemm/variants.h"

#include "runtime/launch.h"

#include <limits>
#include <string>

namespace kg::gemm {

// Elements of C per block (m x n) and per thread, and the depth of a slice.
struct Tile {
  int m, n, k, thread_m, thread_n;

  __host__ __device__ constexpr int threads_n() const { return n / thread_n; }
  __host__ __device__ constexpr int threads() const { return (m / thread_m) * threads_n(); }
};

inline constexpr Tile kTile{.m = 64, .n = 64, .k = 16, .thread_m = 8, .thread_n = 8};

// Elements of a 16-byte access, and of a 32-byte sector, the unit in which global memory is read.
inline constexpr int kQuad = 4;
inline constexpr int kSector = 8;

// How a block copies one operand's slice of `outer` (m or n) x `depth` (k) elements. along_k:
// elements next to each other in global memory differ in k (A as it is, B transposed), else in m or
// n. vector: 16-byte loads are aligned.
struct Slice {
  int outer, depth, threads;
  bool along_k, vector;

  __host__ __device__ constexpr int width() const { return vector ? kQuad : 1; }
  __host__ __device__ constexpr int per_thread() const { return outer * depth / threads; }
  // Threads that read next to each other in one line of global memory.
  __host__ __device__ constexpr int lanes() const { return (along_k ? kSector : outer) / width(); }
  // Elements between shared rows, the padding of slot() included. 4 modulo 8: see place().
  __host__ __device__ constexpr int pitch() const { return outer + kQuad; }
  __host__ __device__ constexpr int floats() const { return pitch() * depth; }
};

// Where an element of a row of 64 lies in shared memory. The gap of 4 floats in the middle makes
// the quads that 8 neighbouring threads touch at once, 8 floats apart, fall into 32 different
// banks.
__device__ constexpr int slot(int outer) { return outer + outer / 32 * kQuad; }

struct Place {
  int outer, k;
};

// Which element of a slice is the `item`-th that `thread` copies. Vector slices: the first of 4
// along the contiguous dimension. The reads of a warp cover whole sectors of 32 bytes, and its
// stores go to 32 different banks: along k, a warp stores 4 neighbours in each of 8 rows, or 16
// neighbours in each of 2 rows 4 apart.
template <Slice kSlice>
__device__ constexpr Place place(int thread, int item) {
  constexpr int kLanes = kSlice.lanes();
  constexpr int kLines = kSlice.threads / kLanes;
  if constexpr (kSlice.along_k) {
    constexpr int kSteps = kSlice.depth / kSector;
    return {thread / kLanes + item / kSteps * kLines,
            thread % kLanes * kSlice.width() + item % kSteps * kSector};
  } else {
    return {thread % kLanes * kSlice.width(), thread / kLanes + item * kLines};
  }
}

// One operand as a block sees it.
struct Operand {
  const float* data;    // element (0, 0) of the slice
  std::int64_t leading; // elements between lines of global memory
  int outer;            // how many of the slice's rows (A) or columns (B) exist
};

// Reads the slice of which `depth` steps of k exist; what does not exist is 0, which adds nothing.
// One index walks through the items: an address for each would take more registers than there are.
template <Slice kSlice>
__device__ __forceinline__ void fetch(const Operand& from, int depth, int thread,
                                      float (&staged)[kSlice.per_thread()]) {
  constexpr int kWidth = kSlice.width();
  constexpr int kItems = kSlice.per_thread() / kWidth;
  constexpr int kSteps = kSlice.along_k ? kSlice.depth / kSector : 1;
  const std::int64_t next_line = kSlice.threads / kSlice.lanes() * from.leading;
  const Place first = place<kSlice>(thread, 0);
  std::int64_t index =
      kSlice.along_k ? first.outer * from.leading + first.k : first.k * from.leading + first.outer;
  if (from.outer == kSlice.outer && depth >= kSlice.depth) {
    KG_UNROLL
    for (int item = 0; item < kItems; ++item) {
      const float* source = from.data + index + item % kSteps * kSector;
      if constexpr (kSlice.vector) {
        const float4 quad = *reinterpret_cast<const float4*>(source);
        staged[item * kQuad + 0] = quad.x;
        staged[item * kQuad + 1] = quad.y;
        staged[item * kQuad + 2] = quad.z;
        staged[item * kQuad + 3] = quad.w;
      } else {
        staged[item] = *source;
      }
      if (item % kSteps == kSteps - 1) index += next_line;
    }
    return;
  }
  KG_UNROLL
  for (int item = 0; item < kItems; ++item) {
    KG_UNROLL
    for (int i = 0; i < kWidth; ++i) {
      Place at = place<kSlice>(thread, item);
      (kSlice.along_k ? at.k : at.outer) += i;
      const bool exists = at.outer < from.outer && at.k < depth;
      staged[item * kWidth + i] = exists ? from.data[index + item % kSteps * kSector + i] : 0.0f;
    }
    if (item % kSteps == kSteps - 1) index += next_line;
  }
}

template <Slice kSlice>
__device__ __forceinline__ void store(const float (&staged)[kSlice.per_thread()], int thread,
                                      float* slice) {
  constexpr int kWidth = kSlice.width();
  constexpr int kItems = kSlice.per_thread() / kWidth;
  KG_UNROLL
  for (int item = 0; item < kItems; ++item) {
    const Place at = place<kSlice>(thread, item);
    float* to = slice + at.k * kSlice.pitch() + slot(at.outer);
    if constexpr (kSlice.vector && !kSlice.along_k) {
      // With a name: g++ would store the members of float4{...} one by one.
      const float4 quad{staged[item * kQuad], staged[item * kQuad + 1], staged[item * kQuad + 2],
                        staged[item * kQuad + 3]};
      *reinterpret_cast<float4*>(to) = quad;
    } else {
      KG_UNROLL
      for (int i = 0; i < kWidth; ++i) to[i * kSlice.pitch()] = staged[item * kWidth + i];
    }
  }
}

template <int kCount>
__device__ __forceinline__ void read(const float* from, float (&fragment)[kCount]) {
  KG_UNROLL
  for (int i = 0; i < kCount; i += kQuad) {
    const float4 quad = *reinterpret_cast<const float4*>(from + i);
    fragment[i + 0] = quad.x;
    fragment[i + 1] = quad.y;
    fragment[i + 2] = quad.z;
    fragment[i + 3] = quad.w;
  }
}

template <Tile kT, Slice kSliceA, Slice kSliceB>
__device__ __forceinline__ void multiply(const float* row_a, const float* row_b,
                                         float (&sum)[kT.thread_m][kT.thread_n]) {
  for (int k = 0; k < kT.k; ++k) {
    float a[kT.thread_m];
    float b[kT.thread_n];
    read(row_a + k * kSliceA.pitch(), a);
    read(row_b + k * kSliceB.pitch(), b);
    KG_UNROLL
    for (int i = 0; i < kT.thread_m; ++i) {
      KG_UNROLL
      for (int j = 0; j < kT.thread_n; ++j) sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
    }
  }
}

// Packs of a tile's row, of kCount elements, for as many threads.
template <int kCount>
__device__ __forceinline__ Floats<kCount> sums_at(const float* from) {
  Floats<kCount> sums;
  if constexpr (kCount == 1)
    sums.value[0] = *from;
  else
    read(from, sums.value);
  return sums;
}

// The block's tile of C, first gathered in shared memory so that the accesses to C are whole rows.
template <Tile kT, int kCount>
__device__ __forceinline__ void write(const Problem& p, unsigned tile_m, unsigned tile_n,
                                      const float* tile) {
  const std::int64_t row0 = std::int64_t{tile_m} * kT.m;
  const std::int64_t column0 = std::int64_t{tile_n} * kT.n;
  constexpr int kPitch = kT.n + kQuad;
  constexpr int kPacks = kT.n / kCount;
  const int rows = static_cast<int>(p.m - row0 < kT.m ? p.m - row0 : kT.m);
  const int column = static_cast<int>(threadIdx.x) % kPacks * kCount;
  if (column0 + column >= p.n) return;
  for (int row = static_cast<int>(threadIdx.x) / kPacks; row < rows; row += kT.threads() / kPacks)
    finish<kCount>(p, row0 + row, (column0 + column) / kCount,
                   sums_at<kCount>(tile + row * kPitch + slot(column)));
}

// Blocks per multiprocessor that the registers must leave room for: 6 keep 12 warps without a
// spill; Turing's 64 KiB of shared memory hold 3. Element-wise loads need one register per address
// and are not worth spills either.
template <bool kVector>
constexpr int least_blocks() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  return 3;
#else
  return kVector ? 6 : 4;
#endif
}

// One block per tile. Neighbouring blocks share the part of B where B is stored as it is, else that
// of A: a slice of the shared one is short pieces of many far-apart rows, which a cache keeps and a
// prefetcher does not guess. fast_tiles: tiles along the dimension that changes from block to
// block. kVector: 16-byte accesses to A and B are aligned; packs: those of `finish`.
template <bool kTransposeA, bool kTransposeB, bool kVector>
__global__ void __launch_bounds__(kTile.threads(), least_blocks<kVector>())
    tiled(Problem p, std::int64_t fast_tiles, bool packs) {
  constexpr Tile kT = kTile; // nvcc 13 rejects a kernel with a template argument of class type
  constexpr Slice kSliceA{kT.m, kT.k, kT.threads(), !kTransposeA, kVector};
  constexpr Slice kSliceB{kT.n, kT.k, kT.threads(), kTransposeB, kVector};
  const int thread = static_cast<int>(threadIdx.x);
  const int thread_row = thread / kT.threads_n() * kT.thread_m;
  const int thread_column = thread % kT.threads_n() * kT.thread_n;
  const auto fast = static_cast<unsigned>(fast_tiles);
  const unsigned tile_m = kTransposeB ? blockIdx.x / fast : blockIdx.x % fast;
  const unsigned tile_n = kTransposeB ? blockIdx.x % fast : blockIdx.x / fast;
  const std::int64_t row0 = std::int64_t{tile_m} * kT.m;
  const std::int64_t column0 = std::int64_t{tile_n} * kT.n;

  Operand a{p.a + (kTransposeA ? row0 : row0 * p.lda), p.lda,
            static_cast<int>(p.m - row0 < kT.m ? p.m - row0 : kT.m)};
  Operand b{p.b + (kTransposeB ? column0 * p.ldb : column0), p.ldb,
            static_cast<int>(p.n - column0 < kT.n ? p.n - column0 : kT.n)};
  constexpr int kBuffer = kSliceA.floats() + kSliceB.floats();
  static_assert(kT.m <= 64 && kT.n <= 64, "slot() has one gap per row");
  static_assert(kT.m * kSliceB.pitch() <= 2 * kBuffer, "the tile of C takes the buffers' place");
  float* shared = dynamic_shared<float>();

  float staged_a[kSliceA.per_thread()];
  float staged_b[kSliceB.per_thread()];
  float sum[kT.thread_m][kT.thread_n] = {};

  const int slices = static_cast<int>((p.k + kT.k - 1) / kT.k);
  const int last_depth = static_cast<int>(p.k - (slices - 1) * std::int64_t{kT.k});
  // Always inline, else the staged elements are captured through memory, where a compiler that does
  // not inline them by itself leaves them.
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
  KG_UNROLL
  for (int i = 0; i < kT.thread_m; ++i) {
    float* row = shared + (thread_row + i) * (kT.n + kQuad) + slot(thread_column);
    KG_UNROLL
    for (int j = 0; j < kT.thread_n; j += kQuad) {
      // Not make_float4: x86-64 returns that in two halves, and clang would compute the sums in
      // halves.
      const float4 quad = float4{sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]};
      *reinterpret_cast<float4*>(row + j) = quad;
    }
  }
  __syncthreads();
  if (packs)
    write<kT, kQuad>(p, tile_m, tile_n, shared);
  else
    write<kT, 1>(p, tile_m, tile_n, shared);
}

namespace {

bool aligned(const void* data, std::int64_t leading) {
  return reinterpret_cast<std::uintptr_t>(data) % sizeof(float4) == 0 && leading % kQuad == 0;
}

template <bool kTransposeA, bool kTransposeB, bool kVector>
void launch_tiled(const Problem& p, Stream& stream) {
  const std::int64_t tiles_m = (p.m + kTile.m - 1) / kTile.m;
  const std::int64_t tiles_n = (p.n + kTile.n - 1) / kTile.n;
  require(tiles_m <= std::numeric_limits<std::int32_t>::max() / tiles_n,
          "gemm: more than 2^31 tiles of C; split the problem");
  require(p.k <= std::int64_t{kTile.k} * std::numeric_limits<std::int32_t>::max(),
          "gemm: k is " + std::to_string(p.k) + ", more than 2^31 slices of 16; split the problem");
  constexpr int kSharedFloats = 2 * kTile.k * (kTile.m + kTile.n + 2 * kQuad);
  launch(tiled<kTransposeA, kTransposeB, kVector>,
         {.grid = dim3(static_cast<unsigned>(tiles_m * tiles_n)),
          .block = dim3(static_cast<unsigned>(kTile.threads())),
          .shared_bytes = kSharedFloats * sizeof(float),
          .stream = &stream},
         p, kTransposeB ? tiles_n : tiles_m, packs_fit(p));
}

template <bool kTransposeA, bool kTransposeB>
void launch_tiled(const Problem& p, Stream& stream) {
  if (aligned(p.a, p.lda) && aligned(p.b, p.ldb)) {
    launch_tiled<kTransposeA, kTransposeB, true>(p, stream);
  } else {
    launch_tiled<kTransposeA, kTransposeB, false>(p, stream);
  }
}

} // namespace

void run_tiled(const Problem& p, Stream& stream) {
  const bool transpose_a = p.transpose_a == Transpose::yes;
  const bool transpose_b = p.transpose_b == Transpose::yes;
  if (transpose_a) {
    transpose_b ? launch_tiled<true, true>(p, stream) : launch_tiled<true, false>(p, stream);
  } else {
    transpose_b ? launch_tiled<false, true>(p, stream) : launch_tiled<false, false>(p, stream);
  }
}

} // namespace kg::gemm
