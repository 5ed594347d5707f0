// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gemm: C = alpha op(A) op(B) + beta C, op(X) = X or its transpose; with an epilogue, an activation
// of that plus a bias, or the gradient of one; and the gradient of a bias.
//
// A linear layer, Y = f(Z) of Z = X W + b, is one call forward and two backward, where dZ' and W'
// are those of the layer behind it, whose dX is dY here:
//   Y, and Z kept          X W         epilogue bias_f
//   dZ = dY f'(Z), and db  dZ' W'^T    epilogue df, bias gradient of_c
//   dW                     X^T dZ      bias gradient of_b where dZ came from no such call
// Weights that are stored by outputs, Y = f(X W^T + b), have dZ' W' and dW = dZ^T X, and of_a.
//
// Problem: row-major matrices; op(A) is m x k, op(B) is k x n, C is m x n. lda, ldb, ldc are the
// distances between stored rows. A batch is as many such products, each of its own A, B and C,
// which lie `stride_*` apart; a stride of 0 shares A or B, and a bias is that of all. BLAS
// semantics: beta = 0 never reads C (NaN in it does not spread), alpha = 0 or k = 0 never reads A
// and B, unless dbias is of them. What is written overlaps nothing that is read but C itself, which
// may lie where z is read.
//
// Rounding: sums are of f32, also of f16 and bf16 matrices, whose products are exact in it; alpha
// and beta C come in f32, and the result is rounded once to T. naive, tiled and skinny accumulate
// every product by one fused multiply-add; mma and wgmma as the matrix units do, which may cut off
// bits of a partial sum that lie below its f32 significand; split_k as one of these two, and adds
// its parts in their order. In a fixed order either way: repeated runs are bit-identical, those of
// split_k where there are as many parts. z, its activation and the product with a slope are
// computed from the unrounded f32 sum; accuracy of the functions: primitives/activation.h,
// activation_slope.h. dbias adds what the matrix holds, rounded as it is, in f32, by parts of the
// rows and these in their order, and is rounded once; on another number of multiprocessors its last
// bits may differ.
//
// Elements of f32 matrices are multiplied as they are, unless the problem allows TF32. Then mma
// rounds those of A and B to 10 bits of fraction, to nearest, ties away from zero: products are
// exact after that. What exceeds the largest TF32 by half a unit becomes infinite.
//
// Special values: IEEE 754. A NaN or infinity of A reaches its row of C alone, one of B its column;
// infinities of both signs in a sum, or an infinity times 0, give NaN. A sum starts from +0 and
// becomes alpha sum + beta C: zeros have the signs that IEEE gives that (-0 for a negative alpha
// and beta = 0). Subnormals are kept. A result beyond the largest f16 is infinite. Slopes as those
// of activation_backward: relu lets nothing through at 0 and left of it, not even a NaN.
#pragma once

#include "ops/gemm/epilogue.h"
#include "runtime/device_code.h"
#include "runtime/enumerators.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kg::gemm {

enum class Transpose { no, yes };

// What may be done to elements of f32 matrices before they are multiplied: nothing, or rounding to
// TF32. A permission, which only mma uses; those of 16 bits are exact either way.
enum class Math { f32, tf32 };

// naive: one thread per element of C. tiled: 64x64 tiles of C per block, operands through shared
// memory, 8x8 (or the tile's own) elements per thread in registers, or wide tiles; f32. mma:
// 128x128 tiles by matrix instructions, or wide ones; f16, and where the device has compute
// capability 8.0, bf16, and f32 with Math::tf32. skinny: reads the operand with the long side of C
// once for 8 columns, or rows, of C; any C, but made for those of at most 8, which automatic gives
// it unless k is short. split_k: mma or, without it, tiled of parts of k, whose sums a second
// kernel adds; for C of few tiles and a long k, where automatic takes it if there is a workspace.
// wgmma: 128x128 tiles by asynchronous matrix instructions, or wide ones; f16 and bf16 on compute
// capability 9.0. Where rows of A, B, C or z do not begin at multiples of 16 bytes it is mma's
// kernel, and automatic says mma.
enum class Variant { automatic, naive, tiled, skinny, split_k, mma, wgmma };

// The tiles of mma, wgmma and tiled. Wide ones, of 128x256, need less of L2 and of shared memory
// for each multiplication, but a block of them has a multiprocessor for itself, with nothing to do
// beside its beginning and its end. automatic takes them where that costs less time, by a model of
// the device (tile_time.h). They are there where all accesses are of 16 bytes: for rows, of A, B, C
// and z, that begin at multiples of these and have no part of them (of f32 without TF32, whose
// elements are copied one by one where neighbours differ in k, C, z, and A or B if neighbours
// differ in m or n; and k is at least 8, rows at most 2^23 elements apart). For others `wide` is
// `square`.
enum class TileShape { automatic, square, wide };

inline constexpr Variant kVariants[] = {Variant::naive,   Variant::tiled, Variant::skinny,
                                        Variant::split_k, Variant::mma,   Variant::wgmma};

// Whether there is such a variant for matrices of T on the current device, or without one on some
// device: cases are listed anywhere. T: float, f16, bf16.
template <class T>
bool supports(Variant variant, Math math = Math::f32);

__host__ __device__ constexpr bool adds_bias(Epilogue epilogue) {
  return epilogue >= Epilogue::bias && epilogue <= Epilogue::bias_gelu_tanh;
}
__host__ __device__ constexpr bool differentiates(Epilogue epilogue) {
  return epilogue >= Epilogue::drelu;
}

template <class T>
struct BasicProblem {
  Transpose transpose_a = Transpose::no;
  Transpose transpose_b = Transpose::no;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  float alpha = 1;
  const T* a = nullptr;
  std::int64_t lda = 0; // >= k, or >= m when A is transposed
  const T* b = nullptr;
  std::int64_t ldb = 0; // >= n, or >= k when B is transposed
  float beta = 0;
  T* c = nullptr;
  std::int64_t ldc = 0; // >= n
  Math math = Math::f32;
  Epilogue epilogue = Epilogue::none;
  const T* bias = nullptr; // n elements, where the epilogue adds one
  T* z = nullptr;          // m x n: written where a bias is added, null: not kept; else read
  std::int64_t ldz = 0;    // >= n, where there is a z
  std::int64_t batch = 1;
  // Elements from one matrix of the batch to the next. Those of C, as those of z, do not overlap:
  // one begins behind the last row of another, or their rows lie side by side. Of a single product
  // they say nothing.
  std::int64_t stride_a = 0;
  std::int64_t stride_b = 0;
  std::int64_t stride_c = 0;
  std::int64_t stride_z = 0;
  void* workspace = nullptr; // of workspace_bytes(); null: automatic does not split k
  std::int64_t parts = 0;    // of split_k, at most; 0: as many as fill the device
  TileShape tiles = TileShape::automatic;
  // Of a single product, whose A is transposed (of_a) or whose B is not (of_b): so gradients of
  // weights have them. n elements, of_a: m.
  BiasGradient bias_gradient = BiasGradient::none;
  T* dbias = nullptr;
};
using Problem = BasicProblem<float>;

using kg::name;
std::string_view name(Math math);
std::string_view name(BiasGradient gradient); // "dbias", "dbias_a", "dbias_b"

// "nn", "nt", "tn" or "tt", as used in case ids.
std::string_view transposition_name(Transpose a, Transpose b);

// Bytes of device workspace, aligned to 16, that `run` needs for the variant and for dbias, or that
// it makes use of for automatic; may be 0. Throws Error as `run` does on negative extents.
template <class T>
std::size_t workspace_bytes(const BasicProblem<T>& problem, Variant variant);

// The tiles that tiled, mma or wgmma takes of the problem.
template <class T>
TileShape tile_shape(const BasicProblem<T>& problem, Variant variant);

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Extents may be 0.
// Throws Error naming the field on a null pointer where one is needed, a negative extent or stride,
// a leading dimension that is too small, matrices of C or z that overlap, an epilogue without its
// bias or the z that it reads, a bias or z without an epilogue, a z that is read and overlaps C
// without being it, a dbias of a batch, of an operand that lies the other way, or that overlaps
// something, a workspace that is needed and null or not aligned, and on a variant that T, the math,
// or the device does not have.
template <class T>
Variant run(const BasicProblem<T>& problem, Variant variant, Stream& stream);

// Each A, each B and the bias read once, C and dbias written once (C read once unless beta = 0), z
// written or read once; 2 m n k operations for each product, those of the epilogue not counted.
template <class T>
Work work(const BasicProblem<T>& problem);

} // namespace kg::gemm
