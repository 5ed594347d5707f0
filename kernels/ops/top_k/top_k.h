// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// top_k: the k largest elements of each row, in descending order, and where they stand in it.
//
// Problem: rows x cols elements x; values and indices are rows x k; k is at least 1 and at most
// cols and kMostK. Layout: packed, any alignment of the element; outputs overlap neither x nor each
// other.
//
// Order: of equal elements the one with the lower index comes first, zeros of both signs are equal.
// A NaN of either sign counts as larger than every number, and all NaN are equal (as in PyTorch,
// and as argmax has it). Only bits move, NaN payloads with them. The result has one right value:
// repeated runs and all variants give the same bits.
#pragma once

#include "runtime/device_code.h"
#include "runtime/enumerators.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kg::top_k {

inline constexpr int kMostK = 2048;

struct Problem {
  std::int64_t rows = 0, cols = 0, k = 0;
};

// naive: one thread per element, which counts those that come before its own. radix: one block per
// row; one of up to kMostK elements is sorted as it is, of a longer one the k-th largest element is
// searched by 11 bits at a time, then what is not behind it is sorted.
enum class Variant { automatic, naive, radix };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::radix};

// What runs where `variant` is asked for.
constexpr Variant resolved(Variant variant) {
  return variant == Variant::automatic ? Variant::radix : variant;
}

using kg::name;

// Enqueues the search and returns the variant that runs. T: float, f16, bf16. Throws Error on
// negative extents, cols or rows beyond i32, another k, a null pointer where one is needed, or an
// output that overlaps anything else.
template <class T>
Variant run(const Problem& problem, const T* x, T* values, std::int32_t* indices, Variant variant,
            Stream& stream);

// One read of each element, one write of each result; no arithmetic.
template <class T>
Work work(const Problem& problem);

} // namespace kg::top_k
