// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gemm, variant tiled, wide tiles: a block computes a 128x256 tile of C with 256 threads, 16x8
// elements each in registers.
//
// The main loop takes slices of 16 along k, both operands stored [k][m or n] in shared memory, with
// the next slice in flight while one is used. Operands contiguous along m or n are copied by
// 16-byte cp.async. Operands contiguous along k are transposed: if B is transposed and whole
// aligned quads exist, through registers, 16 bytes at a time (turned_quads.h); else by cp.async of
// single elements. A thread reads fragments of 16 rows and 8 columns, six 16-byte accesses, one
// step of k ahead of their 128 multiply-adds. It reads the next slice's first fragments before the
// last step of this one, so one barrier per slice is enough. A partial slice comes first, so all
// iterations are identical. Rows and columns beyond m and n repeat the edge; their sums are not
// stored.
//
// Bytes: a block reads (128 + 256) k floats from L2 or memory, 43 flops per byte. Flops: 2 m n k.
// Per slice, a scheduler's two warps issue 2 x 2,048 multiply-adds and 2 x 96 shared reads, while
// shared memory performs 2,048 wavefronts of reads and 192 of copies. 92 to 93 % of the
// instructions are multiply-adds. Slices of 8, three in flight, needed as many other instructions
// for half the multiply-adds. Expected on an H200: 92 % of the f32 peak for m, n >= 4096. Why not
// 8x8 elements per thread, as in gemm_tiled.cu: four 16-byte reads per 64 multiply-adds keep shared
// memory as busy as the FMA units: 91 %. Why not 16x16: the sums alone would fill the registers.
// Why A is copied by elements if B is not transposed: with quads, nvcc (13.0) leaves 123
// multiply-adds per slice with all three registers in one bank, not 17.
#include "ops/gemm/finish.h"
#include "ops/gemm/simt_tile.h"
#include "ops/gemm/tile_rows.h"
#include "ops/gemm/tile_time.h"
#include "ops/gemm/turned_quads.h"
#include "ops/gemm/variants.h"

#include "instructions/cp_async.h"
#include "instructions/opaque.h"
#include "runtime/device.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>

namespace kg::gemm {

inline constexpr Tile kWideTile{.m = 128, .n = 256, .k = 16, .thread_m = 16, .thread_n = 8};
// Rows of C that pass through shared memory at a time: 4 per thread.
inline constexpr int kRowsAtOnce = kWideTile.m / (kWideTile.thread_m / kQuad);
// Columns between a thread's quads: the quads of 8 neighbouring threads are adjacent.
inline constexpr int kBetweenQuads = 32;
// Two slices of both operands.
inline constexpr std::size_t kWideSharedBytes =
    2 * sizeof(float) * kWideTile.k * (kWideTile.m + kWideTile.n + 2 * kQuad);
static_assert(kRowsAtOnce * kWideTile.n * sizeof(float) <= kWideSharedBytes,
              "rows take their place");

// A slice of an operand, of which `outer` rows or columns exist, and a thread's copies of it.
template <int kOuter, bool kAlongK>
class WideSlice {
  static constexpr int kWidth = kAlongK ? 1 : kQuad;
  static constexpr int kLanes = kAlongK ? kSector : kOuter / kQuad; // along a line of memory
  static constexpr int kLines = kWideTile.threads() / kLanes;
  static constexpr int kCount = (kAlongK ? kOuter : kWideTile.k) / kLines; // lines per thread
  static constexpr int kParts = kAlongK ? kWideTile.k / kSector : 1;       // sectors per line

 public:
  static constexpr bool kIsAlongK = kAlongK;
  // 4 modulo 32: the 4 lines of 8 elements that a warp copies at a time fall into 32 banks.
  static constexpr int kPitch = kOuter + kQuad;
  static constexpr int kFloats = kPitch * kWideTile.k;

  __device__ __forceinline__ WideSlice(const float* data, std::int64_t leading, int outer,
                                       float* ring)
      : data_(data), step_(kAlongK ? 1 : leading) {
    const int lane = static_cast<int>(threadIdx.x) % kLanes;
    line_ = static_cast<int>(threadIdx.x) / kLanes;
    to_ = ring + (kAlongK ? lane * kPitch + line_ : line_ * kPitch + lane * kQuad);
    in_line_ = lane * kWidth;
    KG_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const int line = line_ + i * kLines;
      const int row = kAlongK && line >= outer ? outer - 1 : line;
      const int first = !kAlongK && in_line_ >= outer ? outer - kQuad : in_line_;
      offset_[i] = static_cast<unsigned>(row * static_cast<int>(leading) + first);
    }
  }
  // Starts the copy of a slice to offset `at` floats after the first slice.
  __device__ __forceinline__ void start(int at) const {
    each(
        at, [](int, const float* from, float* to) __attribute__((always_inline)) {
          ptx::cp_async_ca<kWidth * sizeof(float)>(to, from);
        });
  }
  // Copies only `depth` steps of k; fills the rest with zeros.
  __device__ __forceinline__ void start(int at, int depth) const {
    each(
        at, [&](int k, const float* from, float* to) __attribute__((always_inline)) {
          constexpr int kBytes = kWidth * static_cast<int>(sizeof(float));
          ptx::cp_async_ca<kBytes>(to, from, k < depth ? kBytes : 0);
        });
  }
  // No-op: cp.async writes to shared memory directly.
  __device__ __forceinline__ void put(int, int) const {}
  __device__ __forceinline__ void advance(int steps) { data_ += steps * step_; }
  __device__ __forceinline__ void advance_if(bool more) { data_ += more ? kWideTile.k * step_ : 0; }

 private:
  // Calls copy(k, from, to) for each of the thread's copies of a slice.
  template <class Copy>
  __device__ __forceinline__ void each(int at, const Copy& copy) const {
    KG_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const float* line = data_ + offset_[i];
      ptx::make_opaque(line); // one address sum for all parts, at constant offsets
      KG_UNROLL
      for (int part = 0; part < kParts; ++part) {
        if constexpr (kAlongK)
          copy(in_line_ + part * kSector, line + part * kSector,
               to_ + at + part * kSector * kPitch + i * kLines);
        else
          copy(line_ + i * kLines, line, to_ + at + i * kLines * kPitch);
      }
    }
  }

  const float* data_;
  std::int64_t step_; // from one step of k to the next
  unsigned offset_[kCount];
  float* to_;
  int line_, in_line_;
};

// A thread's operands for one step of k.
struct WideFragments {
  float a[kWideTile.thread_m], b[kWideTile.thread_n];
};

template <int kBetween, int kCount>
__device__ __forceinline__ void read_quads(const float* from, float (&fragment)[kCount]) {
  KG_UNROLL
  for (int i = 0; i < kCount / kQuad; ++i) {
    const float4 quad = *reinterpret_cast<const float4*>(from + i * kBetween);
    fragment[kQuad * i + 0] = quad.x;
    fragment[kQuad * i + 1] = quad.y;
    fragment[kQuad * i + 2] = quad.z;
    fragment[kQuad * i + 3] = quad.w;
  }
}

using WideSum = float[kWideTile.thread_m][kWideTile.thread_n];

// By columns, since with this order nvcc leaves the fewest multiply-adds whose three registers
// share one of the two banks, which costs an extra clock.
__device__ __forceinline__ void multiply(const WideFragments& own, WideSum& sum) {
  KG_UNROLL
  for (int j = 0; j < kWideTile.thread_n; ++j) {
    KG_UNROLL
    for (int i = 0; i < kWideTile.thread_m; ++i) sum[i][j] = fmaf(own.a[i], own.b[j], sum[i][j]);
  }
}

// A thread's first row and column in a tile.
struct WidePlace {
  int row, column;
};
__device__ __forceinline__ WidePlace wide_place() {
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32, lane = thread % 32;
  constexpr int kWarpsN = kWideTile.n / (2 * kBetweenQuads);
  return {warp / kWarpsN * (kRowsAtOnce / 2) + lane / 8 * kQuad,
          warp % kWarpsN * (2 * kBetweenQuads) + lane % 8 * kQuad};
}

template <class SliceA, class SliceB>
__device__ __forceinline__ void multiply_wide(std::int64_t k, SliceA a, SliceB b,
                                              const WidePlace& own, WideSum& sum) {
  constexpr int kStage = SliceA::kFloats + SliceB::kFloats;
  const float* const of_a = dynamic_shared<float>() + own.row;
  const float* const of_b = dynamic_shared<float>() + SliceA::kFloats + own.column;
  const auto read = [&](int at, int step, WideFragments& to) __attribute__((always_inline)) {
    read_quads<kRowsAtOnce>(of_a + at + step * SliceA::kPitch, to.a);
    read_quads<kBetweenQuads>(of_b + at + step * SliceB::kPitch, to.b);
  };
  const int slices = static_cast<int>((k + kWideTile.k - 1) / kWideTile.k);
  int copied = 1;
  // Copies the next slice to `at`; after the last slice, copies it again, unused.
  const auto copy = [&](int at) __attribute__((always_inline)) {
    a.start(at);
    b.start(at);
    ptx::cp_async_commit();
    ++copied;
    a.advance_if(copied < slices);
    b.advance_if(copied < slices);
  };
  // Stores loaded registers to `at`, in the second half of a slice: one quad of each operand per
  // step, so that fragment reads do not queue after many stores.
  const auto put = [&](int at, int step) __attribute__((always_inline)) {
    a.put(at, step - 8);
    b.put(at, step - 10);
  };

  const int first = static_cast<int>(k - std::int64_t{slices - 1} * kWideTile.k);
  a.start(0, first);
  b.start(0, first);
  ptx::cp_async_commit();
  KG_UNROLL
  for (int step = 0; step < kWideTile.k; ++step) put(0, step);
  a.advance(slices > 1 ? first : 0);
  b.advance(slices > 1 ? first : 0);
  copy(kStage);
  ptx::cp_async_wait_group<1>();
  __syncthreads();
  WideFragments fragments[2];
  read(0, 0, fragments[0]);
  int now = 0;
  KG_ROLLED
  for (int slice = 0; slice < slices; ++slice) {
    const int next = kStage - now;
    KG_UNROLL
    for (int step = 0; step < kWideTile.k; ++step) {
      if (step + 1 < kWideTile.k) {
        read(now, step + 1, fragments[(step + 1) % 2]);
      } else {
        ptx::cp_async_wait_group<0>();
        __syncthreads();
        read(next, 0, fragments[0]);
        copy(now);
      }
      put(next, step);
      multiply(fragments[step % 2], sum);
    }
    now = next;
  }
  ptx::cp_async_wait_all(); // before others reuse shared memory after a barrier
}

// Writes kRowsAtOnce rows of the block's sums, starting at `first`, to shared memory.
__device__ __forceinline__ void put_rows(const WideSum& sum, const WidePlace& own, int first,
                                         float* rows) {
  __syncthreads();
  KG_UNROLL
  for (int i = 0; i < kWideTile.thread_m; ++i) {
    if (i / kQuad * kRowsAtOnce != first) continue;
    KG_UNROLL
    for (int j = 0; j < kWideTile.thread_n; j += kQuad) {
      const float4 quad = float4{sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]};
      float* const to =
          rows + (own.row + i % kQuad) * kWideTile.n + own.column + j / kQuad * kBetweenQuads;
      ptx::store_shared(reinterpret_cast<float4*>(to), quad);
    }
  }
  __syncthreads();
}

// A block's tile of C, whose rows and columns begin at multiples of 16 bytes and consist of whole
// 16-byte vectors.
template <class SliceA, class SliceB>
__device__ __forceinline__ void tile_of_block(const Problem& p, unsigned tiles_m,
                                              unsigned tiles_n) {
  const unsigned product = blockIdx.x / (tiles_m * tiles_n);
  const TilePlace tile = place_of(blockIdx.x - product * tiles_m * tiles_n, tiles_m, tiles_n);
  const std::int64_t row0 = std::int64_t{tile.row} * kWideTile.m;
  const std::int64_t column0 = std::int64_t{tile.column} * kWideTile.n;
  const int rows = static_cast<int>(p.m - row0 < kWideTile.m ? p.m - row0 : kWideTile.m);
  const int columns = static_cast<int>(p.n - column0 < kWideTile.n ? p.n - column0 : kWideTile.n);
  float* const shared = dynamic_shared<float>();
  const WidePlace own = wide_place();
  WideSum sum = {};
  if (p.k > 0) {
    const SliceA a(p.a + product * p.stride_a + (SliceA::kIsAlongK ? row0 * p.lda : row0), p.lda,
                   rows, shared);
    const SliceB b(p.b + product * p.stride_b + (SliceB::kIsAlongK ? column0 * p.ldb : column0),
                   p.ldb, columns, shared + SliceA::kFloats);
    multiply_wide(p.k, a, b, own, sum);
  }

  const auto write = [&](auto reads) __attribute__((always_inline)) {
    constexpr RowsOfTile kRows{kWideTile.n, kWideTile.n, kWideTile.threads()};
    using Writer = RowWriter<kRows, kQuad, true, reads.value, float>;
    Writer writer(p, product, row0, column0, rows);
    KG_ROLLED
    for (int first = 0; first < rows; first += Writer::kStep) {
      if (first % kRowsAtOnce == 0) put_rows(sum, own, first, shared);
      const int row = first + Writer::first_row();
      writer.write(row, shared + row % kRowsAtOnce * kRows.pitch);
    }
  };
  reads_beside(p) ? write(std::true_type{}) : write(std::false_type{});
}

template <bool kTransposeA, bool kTransposeB>
__global__ void __launch_bounds__(kWideTile.threads(), 1)
    tiled_wide(Problem p, unsigned tiles_m, unsigned tiles_n) {
  tile_of_block<WideSlice<kWideTile.m, !kTransposeA>, WideSlice<kWideTile.n, kTransposeB>>(
      p, tiles_m, tiles_n);
}
// For a transposed B. Operands contiguous along k consist of whole quads.
template <bool kTransposeA>
__global__ void __launch_bounds__(kWideTile.threads(), 1)
    tiled_wide_turned(Problem p, unsigned tiles_m, unsigned tiles_n) {
  using SliceA = std::conditional_t<kTransposeA, WideSlice<kWideTile.m, false>,
                                    TurnedQuads<kWideTile, kWideTile.m>>;
  tile_of_block<SliceA, TurnedQuads<kWideTile, kWideTile.n>>(p, tiles_m, tiles_n);
}

namespace {

void launch_wide(void (*kernel)(Problem, unsigned, unsigned), const Problem& p, Stream& stream) {
  const std::int64_t tiles_m = div_up(p.m, kWideTile.m), tiles_n = div_up(p.n, kWideTile.n);
  require(p.k <= std::int64_t{kWideTile.k} * std::numeric_limits<std::int32_t>::max(),
          "gemm: k is " + std::to_string(p.k) + ", more than 2^31 slices of 16; split the problem");
  launch(kernel,
         {.grid = dim3(count_blocks(tiles_m, tiles_n, p.batch)),
          .block = dim3(static_cast<unsigned>(kWideTile.threads())),
          .shared_bytes = kWideSharedBytes,
          .stream = &stream},
         p, static_cast<unsigned>(tiles_m), static_cast<unsigned>(tiles_n));
}

// Whether wide tiles can run: only whole quads are copied and stored, a thread's offsets fit into
// 32 bits, the device has the shared memory, and k has a whole slice besides a partial one.
bool wide_fits(const Problem& p) {
  constexpr std::int64_t kMostLeading = std::numeric_limits<std::int32_t>::max() / kWideTile.n;
  const auto in_quads = [](const float* data, std::int64_t outer, std::int64_t leading,
                           std::int64_t stride) {
    return outer % kQuad == 0 && rows_are_aligned(data, leading, stride);
  };
  return p.k >= kWideTile.k && std::max(p.lda, p.ldb) <= kMostLeading && p.n % kQuad == 0 &&
         packs_fit(p) && device_properties().shared_bytes_per_block_optin >= kWideSharedBytes &&
         (p.transpose_a == Transpose::no || in_quads(p.a, p.m, p.lda, p.stride_a)) &&
         (p.transpose_b == Transpose::yes || in_quads(p.b, p.n, p.ldb, p.stride_b));
}

// Whether B is transposed and all operands contiguous along k consist of whole quads.
bool has_quads_along_k(const Problem& p) {
  return p.transpose_b == Transpose::yes && p.k % kQuad == 0 &&
         rows_are_aligned(p.b, p.ldb, p.stride_b) &&
         (p.transpose_a == Transpose::yes || rows_are_aligned(p.a, p.lda, p.stride_a));
}

// Small tiles: a step of k takes shared memory 37 clocks, the FMA units 32. Wide tiles, eight times
// as large: a scheduler issues for at most 278 clocks. Nothing hides their prologue and epilogue:
// the first slices' latency, and 128 KiB of sums through shared memory to C.
constexpr TileTime kSmallTime{.m = 64, .n = 64, .step = 37, .ends = 0};
constexpr TileTime kWideTime{.m = kWideTile.m, .n = kWideTile.n, .step = 278, .ends = 4500};

} // namespace

TileShape tile_shape_of_tiled(const Problem& p) {
  return shape_of(p, wide_fits(p), kSmallTime, kWideTime);
}

void run_tiled_wide(const Problem& p, Stream& stream) {
  const bool transpose_a = p.transpose_a == Transpose::yes;
  if (has_quads_along_k(p))
    return launch_wide(transpose_a ? tiled_wide_turned<true> : tiled_wide_turned<false>, p, stream);
  const auto kernel = p.transpose_b == Transpose::yes
                          ? transpose_a ? tiled_wide<true, true> : tiled_wide<false, true>
                      : transpose_a ? tiled_wide<true, false>
                                    : tiled_wide<false, false>;
  launch_wide(kernel, p, stream);
}

} // namespace kg::gemm
