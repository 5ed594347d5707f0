// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// top_k: the k largest elements of each row, in descending order, and their indices in the row.
//
// Problem: rows x cols elements x; values and indices are rows x k; k is at least 1 and at most
// cols and kMostK. Layout: packed; natural alignment suffices; outputs overlap neither x nor each
// other.
//
// Order: of equal elements the one with the lower index comes first; zeros of both signs are equal.
// A NaN of either sign is larger than every number, and all NaN are equal (as in PyTorch and in
// argmax). Only bits move, including NaN payloads. The correct result is unique: repeated runs and
// all variants give the same bits.
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

// naive: one thread per element, which counts the elements that precede its own. radix: one block
// per row. Rows of up to kMostK elements are sorted directly. In longer rows, the k-th largest
// element is searched 11 bits at a time, and the elements not below it are sorted.
enum class Variant { automatic, naive, radix };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::radix};

// The variant that runs for `variant`.
constexpr Variant resolved(Variant variant) {
  return variant == Variant::automatic ? Variant::radix : variant;
}

using kg::name;

// Enqueues the search and returns the variant that runs. T: float, f16, bf16. Throws Error if an
// extent is negative, cols or rows are beyond i32, k is out of range, a required pointer is null,
// or an output overlaps any other array.
template <class T>
Variant run(const Problem& problem, const T* x, T* values, std::int32_t* indices, Variant variant,
            Stream& stream);

// One read of each element, one write of each result; no arithmetic.
template <class T>
Work work(const Problem& problem);

} // namespace kg::top_k
