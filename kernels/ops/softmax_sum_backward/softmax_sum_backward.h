// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// softmax_sum_backward: the gradients of y[i] = sum over k of w[k] x[k, i], w = softmax(alpha), see
// softmax_sum.h: dx[k, i] = w[k] dy[i], and dalpha[k] = w[k] (s[k] - sum over j of w[j] s[j]), s[k]
// = sum over i of dy[i] x[k, i].
//
// Problem: x and dx are terms tensors of n elements each, one behind the other, dy is one of them,
// alpha and dalpha terms numbers. Layout: any alignment of T itself; dx may be x, other overlap is
// not allowed. All types compute in f32 and round each result once to T. Of no elements dalpha is
// 0. Every variant adds in a fixed order: repeated runs on one device are bit-identical; on another
// number of multiprocessors dalpha may differ in its last bits. Special values: IEEE 754 in the
// formulas. What is not finite in x or dy makes every number of dalpha infinite or NaN, since each
// has all terms in it; in dx it reaches its own elements alone.
#pragma once

#include "ops/softmax_sum/softmax_sum.h"
#include "runtime/enumerators.h"

#include <cstddef>

namespace kg::softmax_sum_backward {

using softmax_sum::kMaxTerms;

// naive: one thread per element of dx, one block per term for its sum. vectorized: both in one
// pass, 16-byte accesses where n and all pointers allow them, single elements side by side
// elsewhere; grid sized to fill the device. Both make dalpha of the sums in a launch of its own.
enum class Variant { automatic, naive, vectorized };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::vectorized};

// What runs where `variant` is asked for.
constexpr Variant resolved(Variant variant) {
  return variant == Variant::automatic ? Variant::vectorized : variant;
}

using kg::name;

// Bytes of device workspace that `run` needs, aligned to 16; may be 0. Throws Error for terms and n
// that `run` refuses.
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
// unless 1 <= terms <= kMaxTerms and n >= 0, on a null pointer where memory is needed, a workspace
// that is needed and null or not aligned, and where an output overlaps the other one, alpha or dy,
// or x other than as dx in place.
template <class T>
Variant run(const Arrays<T>& arrays, void* workspace, std::int64_t terms, std::int64_t n,
            Variant variant, Stream& stream);

// x, dy and alpha read once, dx and dalpha written once; three operations per element of x: the
// product of dx, and the product and the sum of the term.
Work work(Dtype dtype, std::int64_t terms, std::int64_t n);

} // namespace kg::softmax_sum_backward
