// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/sort.h"

#include "libraries/cuda/thrust.h"

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
  return thrust_cuda::is_float(problem.dtype) || is_integer(problem.dtype);
}

void sort(const SortProblem& problem, const void* keys, void* sorted_keys,
          const std::int32_t* values, std::int32_t* sorted_values, Stream& stream) {
  const auto of_type = [&](auto key) {
    radix_sort<decltype(key)>(problem, keys, sorted_keys, values, sorted_values, stream);
  };
  switch (problem.dtype) {
  case Dtype::i32: return of_type(std::int32_t{});
  case Dtype::u32: return of_type(std::uint32_t{});
  case Dtype::i64: return of_type(std::int64_t{});
  default: thrust_cuda::with_float(problem.dtype, of_type);
  }
}

} // namespace
} // namespace cub_device

const Table<SortVariant> sort_table = {{"cub", cub_device::sort_supported, cub_device::sort}};

} // namespace kg::vendor
