// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sorts each segment of an array, as run_segments of ops/sort/sort.h does.
#pragma once

#include "libraries/dispatch.h"

namespace kg::vendor {

// Segment s is [offsets[s], offsets[s + 1]) of n keys. Ascending and stable. The position of NaN
// depends on the library.
struct SegmentedSortProblem {
  Dtype dtype = Dtype::f32;
  std::int64_t n = 0, segments = 0;
  bool pairs = false;
};

// offsets: segments + 1 numbers on the device. values and sorted_values are null without pairs.
struct SegmentedSortArrays {
  const void* keys;
  void* sorted_keys;
  const std::int32_t* values;
  std::int32_t* sorted_values;
  const std::int32_t* offsets;
};

using SegmentedSortVariant =
    VariantOf<void(const SegmentedSortProblem&, const SegmentedSortArrays&, Stream&),
              const SegmentedSortProblem&>;
extern const Table<SegmentedSortVariant> segmented_sort_table;

inline void segmented_sort(std::string_view variant, const SegmentedSortProblem& problem,
                           const SegmentedSortArrays& arrays, Stream& stream) {
  const std::string what = join("segmented_sort", {name(problem.dtype)});
  require_extents(what, {{"n", problem.n}, {"segments", problem.segments}});
  const auto& entry = find(segmented_sort_table, variant, what, problem);
  if (problem.n * problem.segments == 0) return;
  require_pointers(
      what,
      {{"keys", arrays.keys}, {"sorted_keys", arrays.sorted_keys}, {"offsets", arrays.offsets}});
  if (problem.pairs)
    require_pointers(what, {{"values", arrays.values}, {"sorted_values", arrays.sorted_values}});
  entry.run(problem, arrays, stream);
}

} // namespace kg::vendor
