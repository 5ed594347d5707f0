// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// softmax_sum: y[i] = sum over k of w[k] x[k, i], w = softmax(alpha): the mixed operation of
// differentiable architecture search (Liu, Simonyan and Yang, arXiv 1806.09055), which weights the
// results of all candidates.
//
// Problem: `terms` contiguous tensors of n elements each, and `terms` numbers alpha. Layout:
// natural alignment suffices; y overlaps neither x nor alpha. All types compute in f32 and round
// the result once to T. Special values: IEEE 754 in w[k] = exp(alpha[k] - max) / sum and in the
// products. An alpha of -inf has the weight 0, which turns an infinite x into NaN. A NaN or +inf in
// alpha, or only -inf, makes all weights and results NaN. Repeated runs, and both variants, give
// the same bits: the terms are added in order.
#pragma once

#include "primitives/vectorization.h"
#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstdint>
#include <string_view>

namespace kg::softmax_sum {

inline constexpr std::int64_t kMaxTerms = 64;

// naive: one element per thread. vectorized: 16-byte accesses, grid sized to fill the device.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs; n = 0 launches nothing. T: float, f16,
// bf16. Throws Error unless 1 <= terms <= kMaxTerms and n >= 0, if a pointer is null, or if y
// overlaps x or alpha.
template <class T>
Variant run(const T* x, const T* alpha, T* y, std::int64_t terms, std::int64_t n, Variant variant,
            Stream& stream);

// x and alpha are read once, y is written once; one product and one addition per element of x.
Work work(Dtype dtype, std::int64_t terms, std::int64_t n);

} // namespace kg::softmax_sum
