// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// grad_norm: the Euclidean norm of all gradients of a model, the factor that clips them to it, and
// whether any of them is beyond use; what `optimizer` reads as its scale and its flag, without a
// word to the host between.
//
//   norm      = |unscale| sqrt(sum of g^2 over all tensors)
//   scale     = unscale min(1, limit / (norm + 1e-6))    (as PyTorch's clip_grad_norm_)
//   found_inf = 1 where the sum is not finite, else 0
//
// Problem: any number of tensors of any sizes, listed on the device once (Table); `unscale`, a
// number on the device, undoes a loss scale. Layout: packed, any alignment of the elements; results
// must not overlap gradients or one another. Of no elements the norm is 0.
//
// Rounding: squares are fused with sums in f32, kChain roundings on the longest way of one within a
// block; what blocks sum to is added, and all that follows computed, in f64 and rounded once. The
// order depends on sizes and alignment alone: repeated runs are bit-identical, on every GPU.
// Special values: a NaN makes NaN of norm and scale, an infinity an infinite norm and a scale of 0,
// both found_inf = 1; as infinite counts what a block cannot sum in f32, an element beyond 1.8e19.
// Squares below 2^-150 are 0.
#pragma once

#include "primitives/tensor_list.h"
#include "primitives/vectorization.h"
#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace kg::grad_norm {

// One tensor. T: float, f16, bf16.
template <class T>
struct alignas(16) Gradient {
  std::int64_t size = 0;
  const T* data = nullptr;
};

// Where the three numbers go.
struct Results {
  float* norm = nullptr;
  float* scale = nullptr;
  std::int32_t* found_inf = nullptr;
};

// Of the sums of squares: elements of a thread, lanes of a warp, warps of a block.
inline constexpr int kChain = 64 + 5 + 7;

// The tensors, checked and listed on the device, with room for the sums of blocks.
template <class T>
struct Table {
  TensorList<Gradient<T>> list = {};
  float* partials = nullptr;
  Results results = {};
};

// Device memory that a table takes; 0 where no tensor has elements.
template <class T>
std::size_t table_bytes(std::span<const Gradient<T>> gradients);

// Enqueues the writing of it; `memory` has table_bytes(gradients) bytes, is aligned to 16 and stays
// as long as the table is used: by one run at a time. Throws Error naming the tensor on a negative
// size, a null pointer to elements, or a result that is null or overlaps anything else.
template <class T>
Table<T> make_table(std::span<const Gradient<T>> gradients, const Results& results, void* memory,
                    Stream& stream);

// naive: one element per access. vectorized: 16 bytes, where a tensor is aligned to that.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs; automatic is vectorized. `unscale` may
// be null, for 1, and must not be among the results. An infinite limit clips nothing. Throws Error
// on a limit that is negative or NaN.
template <class T>
Variant run(const Table<T>& table, const float* unscale, double limit, Variant variant,
            Stream& stream);

// Of `elements` in all, each read once; `unscale` where it is there, and the results.
template <class T>
Work work(std::int64_t elements, bool unscaled);

} // namespace kg::grad_norm
