// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/segmented_sort.h"

#include "libraries/cuda/thrust.h"

#include <cub/device/device_segmented_radix_sort.cuh>

#include <limits>

namespace kg::vendor {
namespace cub_device {
namespace {

template <class T>
void radix_sort(const SegmentedSortProblem& problem, const SegmentedSortArrays& arrays,
                Stream& stream) {
  using Sort = cub::DeviceSegmentedRadixSort;
  constexpr int kBits = 8 * static_cast<int>(sizeof(T));
  const auto* from = static_cast<const T*>(arrays.keys);
  auto* to = static_cast<T*>(arrays.sorted_keys);
  const int n = static_cast<int>(problem.n), segments = static_cast<int>(problem.segments);
  const std::int32_t *const begin = arrays.offsets, *const end = arrays.offsets + 1;
  with_storage(stream, [&](void* storage, std::size_t& bytes) {
    if (problem.pairs)
      KG_CHECK(Sort::SortPairs(storage, bytes, from, to, arrays.values, arrays.sorted_values, n,
                               segments, begin, end, 0, kBits, cuda::native(stream)));
    else
      KG_CHECK(Sort::SortKeys(storage, bytes, from, to, n, segments, begin, end, 0, kBits,
                              cuda::native(stream)));
  });
}

// CUB in CCCL 3.0 counts in int.
bool segmented_sort_supported(const SegmentedSortProblem& p) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  return (thrust_cuda::is_float(p.dtype) || is_integer(p.dtype)) && p.n <= kMost &&
         p.segments <= kMost;
}

void segmented_sort(const SegmentedSortProblem& problem, const SegmentedSortArrays& arrays,
                    Stream& stream) {
  const auto of_type = [&](auto key) { radix_sort<decltype(key)>(problem, arrays, stream); };
  switch (problem.dtype) {
  case Dtype::i32: return of_type(std::int32_t{});
  case Dtype::u32: return of_type(std::uint32_t{});
  case Dtype::i64: return of_type(std::int64_t{});
  default: thrust_cuda::with_float(problem.dtype, of_type);
  }
}

} // namespace
} // namespace cub_device

const Table<SegmentedSortVariant> segmented_sort_table = {
    {"cub", cub_device::segmented_sort_supported, cub_device::segmented_sort}};

} // namespace kg::vendor
