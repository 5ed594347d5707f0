// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// histogram: how many elements of an array fall into each of `bins` bins of equal width, from
// `lower` on and below `upper`. What lies outside, and NaN, counts nowhere.
//
//   f32:      bin = floor((x - lower) (bins / (upper - lower))), each step rounded to f32, as CUB
//             and NumPy have it; what rounding takes beyond the last bin counts as its own
//   i32, i8:  bin = (x - lower) / ((upper - lower) / bins), which must be a whole number; exact
//
// Layout: packed, any alignment of the element; counts, i32, do not overlap x. Counts are exact and
// so the same in every run, in whatever order they are added.
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

// naive: each element is added to its bin in global memory. privatized: each block counts in shared
// memory and adds its bins up at the end; of at most kSharedBins.
enum class Variant { automatic, naive, privatized };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::privatized};

inline constexpr std::int64_t kSharedBins = 4096;

constexpr bool supports(Variant variant, std::int64_t bins) {
  return variant != Variant::privatized || bins <= kSharedBins;
}

// What runs where `variant` is asked for.
constexpr Variant resolved(Variant variant, std::int64_t bins) {
  if (variant != Variant::automatic) return variant;
  return bins <= kSharedBins ? Variant::privatized : Variant::naive;
}

using kg::name;

// Enqueues the count and returns the variant that runs. T: float, std::int32_t, std::int8_t. Throws
// Error on extents that are negative or beyond i32, bins of integers that are not equally wide, an
// upper bound that is not above the lower one, a variant that does not support the bins, a null
// pointer where one is needed, or counts that overlap x.
template <class T>
Variant run(const Problem& problem, const T* x, std::int32_t* counts, Variant variant,
            Stream& stream);

// One read per element, one write per bin; an operation for each element.
template <class T>
Work work(const Problem& problem);

} // namespace kg::histogram
