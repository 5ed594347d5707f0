// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// attention_backward: the gradients of a loss with respect to Q, K and V, from dout, its gradient
// with respect to out. As in attention, out = softmax(scale Q K^T + bias) V. No gradient of a bias
// is computed.
//
// With the weights P = exp(scale Q K^T + bias - log_sum) of unmasked pairs, log_sum from the
// forward pass, and delta = rowsum(dout out):
//   dV = P^T dout
//   dS = P (dout V^T - delta), element by element
//   dQ = scale dS K
//   dK = scale dS^T Q
// Weights are recomputed: one more product is cheaper than queries x keys of memory.
//
// Problem: `forward` is the forward pass's problem (attention.h) with all its layouts, masks,
// grouped heads and ragged sequences; its out and log_sum are inputs here. dQ has the shape of Q,
// dK and dV those of K and V, dout that of out, each with its own strides. Heads of Q that share a
// head of K and V add to the same gradients. Keys that no query sees, including those past a
// sequence's length, and queries that see no key get 0.
//
// Rounding: scores, weights, delta and all sums are f32 for every T. flash rounds P and dS to T
// before it multiplies them by dout, K and Q; in f16, values below 2^-25 become 0 and a |dS| above
// 65504 infinite. Results are rounded once to T. Every variant adds in a fixed order, grouped heads
// one after another: repeated runs are bit-identical.
//
// Special values: a NaN in a row of Q, K, V, out or dout, in log_sum or in a bias makes the results
// it reaches NaN, only within its group of heads. So does an infinity whose weight is not finite.
// Masked elements must be finite, because they may be multiplied by 0. Elements past a sequence's
// last key are not read.
//
// Source: Dao, "FlashAttention-2", arXiv 2307.08691, section 3.1.2 (weights from log_sum; delta).
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
  float* workspace = nullptr; // workspace_bytes() bytes
};

// naive: one thread per query and one per key, P and dS in memory. flash: tiles of 64 queries or
// keys per block, on Tensor Cores; f16, and bf16 from compute capability 8.0; depth and value_depth
// are multiples of 8, depth is at most 256, value_depth at most depth.
enum class Variant { automatic, naive, flash };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::flash};

using kg::name;

// Whether `variant` supports these head dimensions on the current device. T: float, f16, bf16.
template <class T>
bool supports(Variant variant, std::int64_t depth, std::int64_t value_depth);

// The variant that runs: automatic selects flash if it is supported, else naive.
template <class T>
Variant resolved(Variant variant, std::int64_t depth, std::int64_t value_depth);

// Bytes of device workspace, aligned to 16, that `run` needs: naive 8 per pair of a query and a
// key, flash 8 per query.
template <class T>
std::size_t workspace_bytes(const Problem<T>& problem, Variant variant);

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Extents may be 0,
// except `heads`. Throws Error naming the field for: a `forward` that attention::run rejects; a
// missing log_sum; a null pointer; negative or overlapping strides of the tensors here; a sequence
// stride with ragged sequences; packed results that overlap each other or a packed input; a variant
// that does not support the depths.
template <class T>
Variant run(const Problem<T>& problem, Variant variant, Stream& stream);

// The longest sequential chains of additions for an element of dQ, and of dK or dV. The error
// bounds grow with them.
std::int64_t query_chain(std::int64_t keys);
std::int64_t key_chain(std::int64_t queries, std::int64_t group);

// Q, out, dout and log_sum, the rows of K and V that some query may see, and the visible bias are
// read once; dQ, dK and dV are written once. Two operations for each of five products per visible
// pair, as in the literature: its score, dout V^T, and the terms of dQ, dK and dV. Lengths and
// offsets are unknown here, so every sequence counts with `queries` and `keys` tokens.
template <class T>
Work work(const Problem<T>& problem);

} // namespace kg::attention_backward
