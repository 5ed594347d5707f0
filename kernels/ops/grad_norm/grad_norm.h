// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// grad_norm: the Euclidean norm of all gradients of a model, the factor that clips them to a limit,
// and whether any gradient is not finite. `optimizer` reads the results as its scale and flag,
// without host synchronization in between.
//
//   norm      = |unscale| sqrt(sum of g^2 over all tensors)
//   scale     = unscale min(1, limit / (norm + 1e-6))    (as PyTorch's clip_grad_norm_)
//   found_inf = 1 where the sum is not finite, else 0
//
// Problem: any number of tensors of any sizes, listed on the device once (Table); `unscale`, a
// number on the device, undoes a loss scale. Layout: packed, any alignment of the elements; results
// must not overlap gradients or each other. Without elements the norm is 0.
//
// Rounding: squares are accumulated by fused multiply-adds in f32, at most kChain roundings in
// sequence within a block. The blocks' sums and all later steps use f64 and are rounded once. The
// order depends only on sizes and alignment: repeated runs are bit-identical, on every GPU. Special
// values: a NaN makes norm and scale NaN; an infinity gives an infinite norm and a scale of 0; both
// set found_inf = 1. A block's sum that overflows f32 (an element beyond 1.8e19) counts as
// infinite. Squares below 2^-150 are 0.
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

// Where the results are written.
struct Results {
  float* norm = nullptr;
  float* scale = nullptr;
  std::int32_t* found_inf = nullptr;
};

// Additions in sequence: elements of a thread, lanes of a warp, warps of a block.
inline constexpr int kChain = 64 + 5 + 7;

// Tensors that were checked and listed on the device, with memory for the blocks' sums.
template <class T>
struct Table {
  TensorList<Gradient<T>> list = {};
  float* partials = nullptr;
  Results results = {};
};

// Bytes of device memory for a table; 0 if no tensor has elements.
template <class T>
std::size_t table_bytes(std::span<const Gradient<T>> gradients);

// Enqueues writing the table to `memory`: table_bytes(gradients) bytes, aligned to 16, which live
// as long as the table and serve one run at a time. Throws Error naming the tensor for: a negative
// size; a null pointer to elements; a result that is null or overlaps anything else.
template <class T>
Table<T> make_table(std::span<const Gradient<T>> gradients, const Results& results, void* memory,
                    Stream& stream);

// naive: one element per access. vectorized: 16 bytes, for aligned tensors.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs; automatic selects vectorized. `unscale`
// may be null, for 1, and must not overlap the results. An infinite limit clips nothing. Throws
// Error for a limit that is negative or NaN.
template <class T>
Variant run(const Table<T>& table, const float* unscale, double limit, Variant variant,
            Stream& stream);

// For `elements` in total, each read once, plus `unscale` if present, and the results.
template <class T>
Work work(std::int64_t elements, bool unscaled);

} // namespace kg::grad_norm
