// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// attention_backward: the gradients of a loss by Q, K and V, from its gradient dout by out, for
// out = softmax(scale Q K^T + bias) V as attention computes it. A bias gets none.
//
// With the weights P = exp(scale Q K^T + bias - log_sum) of the pairs that the masks leave, where
// log_sum is the forward pass's, and delta = rowsum(dout out):
//   dV = P^T dout
//   dS = P (dout V^T - delta), element by element
//   dQ = scale dS K
//   dK = scale dS^T Q
// No weight is kept from the forward pass: a product more is cheaper than queries x keys of memory.
//
// Problem: `forward` is the forward pass's own (attention.h), with all its layouts, masks, grouped
// heads and ragged sequences; its out and log_sum are read here. dQ lies as Q does, dK and dV as K
// and V, dout as out, each with strides of its own. Heads of Q that share one of K and V add up in
// its gradients. Keys that no query sees, those behind a sequence's length among them, and queries
// that see no key get 0.
//
// Rounding: scores, weights, delta and all sums are of f32, also of f16 and bf16 tensors; flash
// rounds P and dS to T before they meet dout, K and Q, so that of f16 what is below 2^-25 is lost
// and a |dS| above 65504 infinite. The results are rounded once to T. Every variant adds in a fixed
// order, of grouped heads one head after another: repeated runs are bit-identical.
//
// Special values: a NaN, or an infinity whose weight is not finite, in a row of Q, K, V, out or
// dout, in log_sum or in a bias makes NaN what it reaches, in its group of heads and no other. What
// a mask hides must be finite: it may be multiplied by 0. Nothing behind the last key of a sequence
// is read.
//
// Sources: Dao, "FlashAttention-2", arXiv 2307.08691, section 3.1.2 (the weights from log_sum;
// delta).
#pragma once

#include "ops/attention/attention.h"
#include "runtime/enumerators.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kg::attention_backward {

using attention::Strides;

template <class T>
struct Problem {
  attention::Problem<T> forward; // its workspace is not used
  const T* dout = nullptr;
  Strides dout_stride = {};
  T* dq = nullptr;
  Strides dq_stride = {};
  T* dk = nullptr;
  Strides dk_stride = {};
  T* dv = nullptr;
  Strides dv_stride = {};
  float* workspace = nullptr; // of workspace_bytes()
};

// naive: one thread per query and one per key, P and dS in memory. flash: tiles of 64 queries or
// keys per block, products by matrix instructions; f16, and bf16 where the device has compute
// capability 8.0; depth and value_depth are multiples of 8, up to 256, value_depth not more than
// depth.
enum class Variant { automatic, naive, flash };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::flash};

using kg::name;

// Whether `variant` can do heads of this depth on the current device. T: float, f16, bf16.
template <class T>
bool supports(Variant variant, std::int64_t depth, std::int64_t value_depth);

// What runs where `variant` is asked for: automatic is flash where that can, else naive.
template <class T>
Variant resolved(Variant variant, std::int64_t depth, std::int64_t value_depth);

// Bytes of device workspace, aligned to 16, that `run` needs: of naive 8 for each pair of a query
// and a key, else 8 for each query.
template <class T>
std::size_t workspace_bytes(const Problem<T>& problem, Variant variant);

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Extents may be 0,
// but not `heads`. Throws Error naming the field for what attention::run refuses of `forward`, on a
// missing log_sum, on a null pointer, negative or overlapping strides of the tensors here, or one
// from sequence to sequence of ragged ones, on packed results that overlap each other or a packed
// input, or a variant that does not support the depths.
template <class T>
Variant run(const Problem<T>& problem, Variant variant, Stream& stream);

// Longest sequential chains of additions, of an element of dQ and of one of dK or dV: what the
// error bounds grow with.
std::int64_t query_chain(std::int64_t keys);
std::int64_t key_chain(std::int64_t queries, std::int64_t group);

// Q, out, dout and log_sum, and the rows of K and V that any query may see, read once, bias where
// it is seen; dQ, dK and dV written once. Two operations for each of five products of a visible
// pair, as the literature counts: its score, dout V^T, and the terms of dQ, dK and dV. Lengths and
// offsets are data: as if every sequence had `queries` and `keys`.
template <class T>
Work work(const Problem<T>& problem);

} // namespace kg::attention_backward
