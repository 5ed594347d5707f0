// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gemm: C = alpha op(A) op(B) + beta C, op(X) = X or its transpose. Optional: an epilogue (bias and
// activation, or the gradient of an activation) and the gradient of a bias.
//
// A linear layer Y = f(Z), Z = X W + b, takes one call forward and two backward. dZ' and W' belong
// to the next layer, whose dX is this layer's dY:
//   Y, and Z kept          X W         epilogue bias_f
//   dZ = dY f'(Z), and db  dZ' W'^T    epilogue df, bias gradient of_c
//   dW                     X^T dZ      bias gradient of_b if no such call computed dZ
// Weights stored by outputs, Y = f(X W^T + b), take dZ' W', dW = dZ^T X and of_a instead.
//
// Problem: row-major matrices; op(A) is m x k, op(B) is k x n, C is m x n. lda, ldb and ldc are the
// row strides. In a batch, each product has its own A, B and C, `stride_*` elements apart. A stride
// of 0 shares A or B; all products share the bias. BLAS semantics: beta = 0 never reads C (NaN in C
// does not spread); alpha = 0 or k = 0 never reads A and B, except for dbias. Outputs must not
// overlap inputs, except that C may be read and written in place, and an input z may be C.
//
// Rounding: sums are f32 for all types; products of f16 and bf16 are exact in f32. alpha and beta C
// are applied in f32, and the result is rounded once to T. naive, tiled and skinny use one fused
// multiply-add per product. mma and wgmma accumulate as Tensor Cores do, which may truncate bits
// below the f32 significand of a partial sum. split_k runs mma or tiled and adds its parts in
// order. The order of summation is fixed, so repeated runs are bit-identical (split_k: for the same
// number of parts). z, its activation and the product with a derivative are computed from the
// unrounded f32 sum; primitives/activation.h and activation_slope.h state the accuracy of these
// functions. dbias sums the stored (rounded) elements in f32, in parts of the rows added in order,
// and is rounded once. Its last bits may differ with the number of multiprocessors.
//
// f32 elements are multiplied unrounded unless the problem allows TF32. With TF32, mma rounds
// elements of A and B to 10 fraction bits, to nearest, ties away from zero; their products are then
// exact. Values above the largest TF32 by half a unit become infinite.
//
// Special values: IEEE 754. A NaN or infinity in A reaches only its row of C; in B, only its
// column. Infinities of both signs in a sum, or infinity times 0, give NaN. Each sum starts from
// +0; the signs of zeros follow IEEE for alpha sum + beta C (-0 for a negative alpha and beta = 0).
// Subnormals are kept. A result beyond the largest f16 is infinite. Derivatives are those of
// activation_backward: relu's is 0 for z <= 0, and blocks even a NaN of dy.
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

// Permitted preprocessing of f32 elements before multiplication: none, or rounding to TF32. Only
// mma uses the permission; 16-bit types are exact either way.
enum class Math { f32, tf32 };

// naive: one thread per element of C. tiled: f32; 64x64 tiles of C per thread block, operands in
// shared memory, 8x8 elements (or the tile's own) per thread in registers; or wide tiles. mma:
// 128x128 or wide tiles with MMA instructions; f16, and from compute capability 8.0, bf16 and f32
// with Math::tf32. skinny: reads the operand along the long side of C once per 8 columns (or rows)
// of C; any C, but designed for at most 8, where automatic selects it unless k is short. split_k:
// mma (else tiled) on parts of k, which a second kernel adds; for few tiles of C and a long k,
// where automatic selects it if there is a workspace. wgmma: 128x128 or wide tiles with
// asynchronous MMA instructions; f16 and bf16 on compute capability 9.0. If rows of A, B, C or z
// are not aligned to 16 bytes, wgmma runs mma's kernel, and automatic reports mma.
enum class Variant { automatic, naive, tiled, skinny, split_k, mma, wgmma };

// Tiles of mma, wgmma and tiled. Wide tiles, 128x256, need less L2 and shared memory bandwidth per
// multiplication, but a thread block occupies a whole multiprocessor, so nothing hides its prologue
// and epilogue. automatic picks the shape that takes less time in a model of the device
// (tile_time.h). Wide tiles require 16-byte accesses only: rows of A, B, C and z are aligned to 16
// bytes and a multiple of 16 bytes long. f32 without TF32 requires this of C and z, but of A or B
// only if neighbours differ in m or n: elements contiguous along k are copied one by one. It also
// requires k >= 8 and row strides of at most 2^23 elements. Otherwise `wide` means `square`.
enum class TileShape { automatic, square, wide };

inline constexpr Variant kVariants[] = {Variant::naive,   Variant::tiled, Variant::skinny,
                                        Variant::split_k, Variant::mma,   Variant::wgmma};

// Whether the variant exists for matrices of T on the current device; without a device, on any
// device, so that cases can be listed anywhere. T: float, f16, bf16.
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
  T* z = nullptr;          // m x n: output if a bias is added (null: not kept), else input
  std::int64_t ldz = 0;    // >= n, if there is a z
  std::int64_t batch = 1;
  // Elements between consecutive matrices of the batch. Matrices of C, and of z, must not overlap:
  // each begins after the last row of another, or their rows lie side by side. Ignored for a single
  // product.
  std::int64_t stride_a = 0;
  std::int64_t stride_b = 0;
  std::int64_t stride_c = 0;
  std::int64_t stride_z = 0;
  void* workspace = nullptr; // workspace_bytes() bytes; null: automatic does not split k
  std::int64_t parts = 0;    // maximum parts of split_k; 0: as many as fill the device
  TileShape tiles = TileShape::automatic;
  // For single products only, with A transposed (of_a) or B not transposed (of_b), as gradients of
  // weights have them. n elements; of_a: m.
  BiasGradient bias_gradient = BiasGradient::none;
  T* dbias = nullptr;
};
using Problem = BasicProblem<float>;

using kg::name;
std::string_view name(Math math);
std::string_view name(BiasGradient gradient); // "dbias", "dbias_a", "dbias_b"

// "nn", "nt", "tn" or "tt", as used in case ids.
std::string_view transposition_name(Transpose a, Transpose b);

// Bytes of device workspace, aligned to 16, that `run` needs for the variant and dbias, or that
// automatic can use; may be 0. Throws Error for negative extents, as `run` does.
template <class T>
std::size_t workspace_bytes(const BasicProblem<T>& problem, Variant variant);

// The tile shape that tiled, mma or wgmma uses for the problem.
template <class T>
TileShape tile_shape(const BasicProblem<T>& problem, Variant variant);

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Extents may be 0.
// Throws Error naming the field for: a required pointer that is null; a negative extent or stride;
// a leading dimension that is too small; overlapping matrices of C or z; an epilogue without its
// bias or input z; a bias or z without an epilogue; an input z that partly overlaps C; a dbias of a
// batch, of an operand with the other transposition, or with overlap; a required workspace that is
// null or misaligned; a variant that T, the math or the device does not support.
template <class T>
Variant run(const BasicProblem<T>& problem, Variant variant, Stream& stream);

// Each A, each B and the bias are read once, C and dbias written once (C also read unless beta =
// 0), z written or read once. 2 m n k operations per product, without those of the epilogue.
template <class T>
Work work(const BasicProblem<T>& problem);

} // namespace kg::gemm
