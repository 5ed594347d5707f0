// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// histogram: counts the elements of an array that fall into each of `bins` bins of equal width,
// from `lower` (inclusive) to `upper` (exclusive). Elements outside, and NaN, are not counted.
//
//   f32:      bin = floor((x - lower) (bins / (upper - lower))), each step rounded to f32, as in
//             CUB and NumPy; a result that rounding puts beyond the last bin counts in the last bin
//   i32, i8:  bin = (x - lower) / ((upper - lower) / bins), with an integer width of bins; exact
//
// Layout: packed; natural alignment suffices; counts, i32, do not overlap x. Counts are exact, and
// therefore the same in every run, whatever the order of the additions.
#pragma once

#include "runtime/device_code.h"
#include "runtime/enumerators.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstdint>
#include <string_view>

namespace kg::histogram {

struct Problem {
  std::int64_t n = 0;
  std::int64_t bins = 0;
  double lower = 0, upper = 0; // numbers of x's type, or one more than its largest
};

// naive: adds each element to its bin in global memory. privatized: each block counts in shared
// memory and adds its bins to global memory at the end; at most kSharedBins bins. Where a device
// has too little shared memory for 32 counters of each bin, or for 4 of many, blocks have fewer.
enum class Variant { automatic, naive, privatized };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::privatized};

inline constexpr std::int64_t kSharedBins = 4096;

constexpr bool supports(Variant variant, std::int64_t bins) {
  return variant != Variant::privatized || bins <= kSharedBins;
}

// The variant that runs for `variant`.
constexpr Variant resolved(Variant variant, std::int64_t bins) {
  if (variant != Variant::automatic) return variant;
  return bins <= kSharedBins ? Variant::privatized : Variant::naive;
}

using kg::name;

// Enqueues the count and returns the variant that runs. T: float, std::int32_t, std::int8_t. Throws
// Error if an extent is negative or beyond i32, bins of integers have unequal widths, the upper
// bound is not above the lower one, the variant does not support the bins, a required pointer is
// null, or counts overlap x.
template <class T>
Variant run(const Problem& problem, const T* x, std::int32_t* counts, Variant variant,
            Stream& stream);

// One read and one operation per element, one write per bin.
template <class T>
Work work(const Problem& problem);

} // namespace kg::histogram
