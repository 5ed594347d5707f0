// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/sort.h"

#include "vendor/cuda/thrust.h"

#include <cub/device/device_radix_sort.cuh>

namespace kg::vendor {
namespace cub_device {
namespace {

template <class T>
void radix_sort(const SortProblem& problem, const void* keys, void* sorted_keys,
                const std::int32_t* values, std::int32_t* sorted_values, Stream& stream) {
  constexpr int kBits = 8 * static_cast<int>(sizeof(T));
  const auto* from = static_cast<const T*>(keys);
  auto* to = static_cast<T*>(sorted_keys);
  with_storage(stream, [&](void* storage, std::size_t& bytes) {
    if (problem.pairs)
      KG_CHECK(cub::DeviceRadixSort::SortPairs(storage, bytes, from, to, values, sorted_values,
                                               problem.n, 0, kBits, cuda::native(stream)));
    else
      KG_CHECK(cub::DeviceRadixSort::SortKeys(storage, bytes, from, to, problem.n, 0, kBits,
                                              cuda::native(stream)));
  });
}

bool sort_supported(const SortProblem& problem) {
  return thrust_cuda::is_float(problem.dtype) || problem.dtype == Dtype::i32;
}

void sort(const SortProblem& problem, const void* keys, void* sorted_keys,
          const std::int32_t* values, std::int32_t* sorted_values, Stream& stream) {
  if (problem.dtype == Dtype::i32)
    return radix_sort<std::int32_t>(problem, keys, sorted_keys, values, sorted_values, stream);
  thrust_cuda::with_float(problem.dtype, [&](auto key) {
    radix_sort<decltype(key)>(problem, keys, sorted_keys, values, sorted_values, stream);
  });
}

} // namespace
} // namespace cub_device

const Table<SortVariant> sort_table = {{"cub", cub_device::sort_supported, cub_device::sort}};

} // namespace kg::vendor
