// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// softmax_sum_backward: the gradients of y[i] = sum over k of w[k] x[k, i], w = softmax(alpha), see
// softmax_sum.h: dx[k, i] = w[k] dy[i], and dalpha[k] = w[k] (s[k] - sum over j of w[j] s[j]), with
// s[k] = sum over i of dy[i] x[k, i].
//
// Problem: x and dx are `terms` contiguous tensors of n elements each, dy is one such tensor, alpha
// and dalpha are `terms` numbers. Layout: natural alignment suffices; dx may be x, other overlap is
// not allowed. All types compute in f32 and round each result once to T. If n is 0, dalpha is 0.
// Every variant adds in a fixed order: repeated runs on one device are bit-identical; with another
// number of multiprocessors, dalpha may differ in its last bits. Special values: IEEE 754 in the
// formulas. A non-finite x or dy makes all of dalpha infinite or NaN, since each number depends on
// all terms; in dx it affects only its own elements.
#pragma once

#include "ops/softmax_sum/softmax_sum.h"
#include "runtime/enumerators.h"

#include <cstddef>

namespace kg::softmax_sum_backward {

using softmax_sum::kMaxTerms;

// naive: one thread per element of dx, one block per term for its sum. vectorized: both in one
// pass, in 16-byte accesses if n and all pointers allow them, otherwise in coalesced single
// elements; grid sized to fill the device. Both compute dalpha from the sums in a separate launch.
enum class Variant { automatic, naive, vectorized };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::vectorized};

// The variant that runs for `variant`.
constexpr Variant resolved(Variant variant) {
  return variant == Variant::automatic ? Variant::vectorized : variant;
}

using kg::name;

// Bytes of device workspace that `run` needs, aligned to 16; may be 0. Throws Error if `run` would
// reject terms or n.
template <class T>
std::size_t workspace_bytes(Variant variant, std::int64_t terms, std::int64_t n);

template <class T>
struct Arrays {
  const T* x;
  const T* alpha;
  const T* dy;
  T* dx;
  T* dalpha;
};

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Throws Error
// unless 1 <= terms <= kMaxTerms and n >= 0; if a required pointer is null; if a required workspace
// is null or not aligned; or if an output overlaps the other output, alpha or dy, or x other than
// as dx in place.
template <class T>
Variant run(const Arrays<T>& arrays, void* workspace, std::int64_t terms, std::int64_t n,
            Variant variant, Stream& stream);

// x, dy and alpha are read once, dx and dalpha are written once; three operations per element of x:
// the product for dx, and the product and addition for the term's sum.
Work work(Dtype dtype, std::int64_t terms, std::int64_t n);

} // namespace kg::softmax_sum_backward
