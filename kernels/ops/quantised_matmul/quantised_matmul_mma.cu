// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// quantised_matmul for many rows, variant mma: a block of eight warps computes a tile of 128 rows
// of X and 128 of W, a warp 64 and 32 of them. The main loop takes 64 bytes along k, with the next
// 64 in flight. Chunks of 64-byte rows are swizzled in shared memory, so that neither copies nor
// ldmatrix have bank conflicts.
//
// Integers are multiplied directly, 32 of k per MMA. e4m3 is converted exactly to f16 in registers.
// The order of k within a sum is arbitrary, so the four bytes of a register become pairs for both
// halves of an MMA of 16. From compute capability 8.9 on, one instruction converts a pair. Before,
// the bits of an e4m3 number placed in f16 represent 2^-8 of its value, including subnormals; the
// factor 2^16 is applied at the end.
//
// Bytes: X and W once from memory if L2 holds those of a wave of blocks, else X once per 128 rows
// of W; flops: 2 m n k, rounded up to tiles. For e4m3 on an H200, the 64 MMAs per 64 bytes of k
// take a scheduler's Tensor Core 407 clocks; 358 instructions issue meanwhile, and shared memory is
// busy for 268 (nvcc 13.0 for 9.0): the full rate of mma.sync in f16, by that model. For w8a8 it is
// 76 %, if an integer MMA of 32 takes as long as one of f16. Expected there: 85 % and 65 % for k of
// some thousands, since a tile's prologue and epilogue are not hidden. On 8.0, where six
// instructions convert a pair, the model gives 42 % of the peak for e4m3.
//
// Why not mma.sync of e4m3, which exists from 8.9 on: for 9.0, ptxas expands it to the same
// conversions and f16 MMAs, two additions after each of these, and 40 to 56 bytes of spills. Only
// 8.9 has a native rate, and its sums need not keep all bits of f32.
#include "ops/quantised_matmul/variants.h"

#include "instructions/cp_async.h"
#include "instructions/fp8.h"
#include "instructions/ldmatrix.h"
#include "instructions/mma.h"
#include "primitives/pack.h"
#include "primitives/warp.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <type_traits>

namespace kg::quantised_matmul {

constexpr int kThreads = 256;
constexpr int kTileRows = 128; // rows of X and of W
constexpr int kStep = 64;      // bytes along k
constexpr int kChunks = kStep / kPackBytes;
constexpr int kWarpRows = 64, kWarpColumns = 32;
constexpr int kDown = kWarpRows / 16, kAcross = kWarpColumns / 8; // MMAs per warp

// Position of a chunk of a row. The same chunk of eight rows falls into eight groups of banks.
__device__ __forceinline__ int place_of(int row, int chunk) {
  return row * kChunks + (chunk ^ (row / 2 % kChunks));
}

__device__ __forceinline__ int rows_of_tile(std::int64_t left) {
  return left < kTileRows ? static_cast<int>(left) : kTileRows;
}

// Copies `rows` rows at `from`, k bytes each, starting at byte `column`; the rest is filled with 0.
__device__ __forceinline__ void copy_rows(uint4* to, const std::uint8_t* from, int rows,
                                          std::int64_t k, std::int64_t column) {
  KG_UNROLL
  for (int i = 0; i < kTileRows * kChunks / kThreads; ++i) {
    const int index = static_cast<int>(threadIdx.x) + i * kThreads;
    const int row = index / kChunks, chunk = index % kChunks;
    const std::int64_t at = column + chunk * kPackBytes;
    const bool inside = row < rows && at < k;
    ptx::cp_async_cg(to + place_of(row, chunk), inside ? from + row * k + at : from,
                     inside ? kPackBytes : 0);
  }
}

// Converts four e4m3 numbers to two pairs of f16. kOfProduct: the factor that restores a product.
#if KG_BACKEND_CUDA && __CUDA_ARCH__ >= 890
__device__ __forceinline__ void widen(unsigned bytes, unsigned (&pairs)[2]) {
  pairs[0] = ptx::halves_of_e4m3(static_cast<unsigned short>(bytes));
  pairs[1] = ptx::halves_of_e4m3(static_cast<unsigned short>(bytes >> 16));
}
constexpr float kOfProduct = 1;
#else
// Each result is 2^-8 of its number. For NaN, whose bits are all set, the top exponent bit is also
// set.
__device__ __forceinline__ void widen(unsigned bytes, unsigned (&pairs)[2]) {
  KG_UNROLL
  for (int half = 0; half < 2; ++half) {
    const unsigned spread = __byte_perm(bytes, 0, half == 0 ? 0x1404 : 0x3424);
    const unsigned magnitude = (spread & 0x7F007F00u) >> 1;
    const unsigned nan = (magnitude + 0x00800080u) & 0x40004000u;
    pairs[half] = (spread & 0x80008000u) | magnitude | nan;
  }
}
constexpr float kOfProduct = 0x1p16F;
#endif

// A warp's MMA operands for 32 of k: fragments of A and B from the bytes that ldmatrix loads.
template <Kind kind>
struct Form;
template <>
struct Form<Kind::w8a8> {
  using Sum = int;
  struct A {
    unsigned bytes[4];
  };
  struct B {
    unsigned bytes[2];
  };
  __device__ __forceinline__ static A a_of(const unsigned (&bytes)[4]) {
    return {{bytes[0], bytes[1], bytes[2], bytes[3]}};
  }
  __device__ __forceinline__ static B b_of(unsigned low, unsigned high) { return {{low, high}}; }
  __device__ __forceinline__ static void multiply(int (&sum)[4], const A& a, const B& b) {
    ptx::mma_m16n8k32_s8(sum, a.bytes, b.bytes);
  }
  __device__ static float number(int sum) { return static_cast<float>(sum); }
};
template <>
struct Form<Kind::e4m3> {
  using Sum = float;
  struct A {
    unsigned of[2][4]; // the first and the last 16 of k
  };
  struct B {
    unsigned of[2][2];
  };
  __device__ __forceinline__ static A a_of(const unsigned (&bytes)[4]) {
    A a;
    KG_UNROLL
    for (int r = 0; r < 4; ++r) { // rows, rows + 8, and the same for the last 16 of k
      unsigned pairs[2];
      widen(bytes[r], pairs);
      a.of[r / 2][r % 2] = pairs[0];
      a.of[r / 2][r % 2 + 2] = pairs[1];
    }
    return a;
  }
  __device__ __forceinline__ static B b_of(unsigned low, unsigned high) {
    B b;
    widen(low, b.of[0]);
    widen(high, b.of[1]);
    return b;
  }
  __device__ __forceinline__ static void multiply(float (&sum)[4], const A& a, const B& b) {
    ptx::mma_m16n8k16<f16>(sum, a.of[0], b.of[0]);
    ptx::mma_m16n8k16<f16>(sum, a.of[1], b.of[1]);
  }
  __device__ static float number(float sum) { return sum * kOfProduct; }
};

// Adds the products of 64 bytes of k, one fragment of A at a time: all fragments, widened, and the
// sums would exceed the registers.
template <Kind kind>
__device__ __forceinline__ void add_step(const uint4* x, const uint4* w,
                                         typename Form<kind>::Sum (&sum)[kDown][kAcross][4]) {
  using F = Form<kind>;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  KG_UNROLL
  for (int half = 0; half < 2; ++half) {
    typename F::B b[kAcross];
    KG_UNROLL
    for (int j = 0; j < kAcross; j += 2) {
      unsigned bytes[4];
      ptx::ldmatrix(bytes, w + place_of(j * 8 + lane / 16 * 8 + lane % 8, 2 * half + lane / 8 % 2));
      b[j] = F::b_of(bytes[0], bytes[1]);
      b[j + 1] = F::b_of(bytes[2], bytes[3]);
    }
    KG_UNROLL
    for (int i = 0; i < kDown; ++i) {
      unsigned bytes[4];
      ptx::ldmatrix(bytes, x + place_of(i * 16 + lane % 16, 2 * half + lane / 16));
      const typename F::A a = F::a_of(bytes);
      KG_UNROLL
      for (int j = 0; j < kAcross; ++j) F::multiply(sum[i][j], a, b[j]);
    }
  }
}

template <Kind kind, class T>
__global__ void __launch_bounds__(kThreads, 2) mma(Problem<T> p) {
  using F = Form<kind>;
  __shared__ uint4 x_tile[2][kTileRows * kChunks];
  __shared__ uint4 w_tile[2][kTileRows * kChunks];
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int warp = static_cast<int>(threadIdx.x) / kLanes;
  const int warp_row = warp % 2 * kWarpRows, warp_column = warp / 2 * kWarpColumns;
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x) * kTileRows;
  const std::int64_t first_column = static_cast<std::int64_t>(blockIdx.y) * kTileRows;
  const auto* const x = static_cast<const std::uint8_t*>(p.x8) + first_row * p.k;
  const auto* const w = static_cast<const std::uint8_t*>(p.w) + first_column * p.k;
  const int x_rows = rows_of_tile(p.m - first_row), w_rows = rows_of_tile(p.n - first_column);
  const auto copy = [&](int buffer, std::int64_t column) {
    copy_rows(x_tile[buffer], x, x_rows, p.k, column);
    copy_rows(w_tile[buffer], w, w_rows, p.k, column);
    ptx::cp_async_commit();
  };

  typename F::Sum sum[kDown][kAcross][4] = {};
  copy(0, 0);
  int buffer = 0;
  for (std::int64_t column = 0; column < p.k; column += kStep, buffer ^= 1) {
    ptx::cp_async_wait_group<0>();
    __syncthreads(); // copies are visible to all threads, and the other buffer is free
    if (column + kStep < p.k) copy(buffer ^ 1, column + kStep);
    add_step<kind>(x_tile[buffer] + warp_row * kChunks, w_tile[buffer] + warp_column * kChunks,
                   sum);
  }

  KG_UNROLL
  for (int i = 0; i < kDown; ++i) {
    KG_UNROLL
    for (int r = 0; r < 2; ++r) {
      const std::int64_t row = first_row + warp_row + i * 16 + r * 8 + lane / 4;
      if (row >= p.m) continue;
      const float x_scale = p.x_scale[row];
      KG_UNROLL
      for (int j = 0; j < kAcross; ++j) {
        KG_UNROLL
        for (int c = 0; c < 2; ++c) {
          const std::int64_t to = first_column + warp_column + j * 8 + lane % 4 * 2 + c;
          if (to >= p.n) continue;
          const float result = F::number(sum[i][j][2 * r + c]) * x_scale * p.w_scale[to];
          p.y[row * p.n + to] = from_float<T>(result);
        }
      }
    }
  }
}

template <Kind kind, class T>
void launch_mma(const Problem<T>& p, Stream& stream) {
  const std::int64_t across = div_up(p.n, kTileRows);
  require(across <= 65535, "quantised_matmul: the rows of w make more blocks than a grid has; "
                           "split them");
  launch(mma<kind, T>,
         {.grid = {grid_x(div_up(p.m, kTileRows), "quantised_matmul: the rows of x", "split them"),
                   static_cast<unsigned>(across)},
          .block = kThreads,
          .stream = &stream},
         p);
}

template void launch_mma<Kind::w8a8>(const Problem<float>&, Stream&);
template void launch_mma<Kind::w8a8>(const Problem<f16>&, Stream&);
template void launch_mma<Kind::w8a8>(const Problem<bf16>&, Stream&);
template void launch_mma<Kind::e4m3>(const Problem<float>&, Stream&);
template void launch_mma<Kind::e4m3>(const Problem<f16>&, Stream&);
template void launch_mma<Kind::e4m3>(const Problem<bf16>&, Stream&);

} // namespace kg::quantised_matmul
