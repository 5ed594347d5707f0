// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/sort.h"

#include "libraries/cuda/thrust.h"

#include <cub/device/device_radix_sort.cuh>

namespace kg::vendor {
namespace cub_device {
namespace {

// Calls one of CUB's sorts. All take storage, these arrays, and the problem's parameters.
template <class Sort, class... Array>
void sort_by(Sort sort, const SortProblem& problem, Stream& stream, Array*... arrays) {
  with_storage(stream, [&](void* storage, std::size_t& bytes) {
    KG_CHECK(sort(storage, bytes, arrays..., problem.n, problem.begin_bit, problem.end_bit,
                  cuda::native(stream)));
  });
}

template <class T>
void radix_sort(const SortProblem& problem, const void* keys, void* sorted_keys,
                const std::int32_t* values, std::int32_t* sorted_values, Stream& stream) {
  using Sort = cub::DeviceRadixSort;
  const auto up = [](auto&&... x) { return Sort::SortKeys(x...); };
  const auto down = [](auto&&... x) { return Sort::SortKeysDescending(x...); };
  const auto pairs_up = [](auto&&... x) { return Sort::SortPairs(x...); };
  const auto pairs_down = [](auto&&... x) { return Sort::SortPairsDescending(x...); };
  const auto* from = static_cast<const T*>(keys);
  auto* to = static_cast<T*>(sorted_keys);
  if (problem.pairs && problem.descending)
    sort_by(pairs_down, problem, stream, from, to, values, sorted_values);
  else if (problem.pairs)
    sort_by(pairs_up, problem, stream, from, to, values, sorted_values);
  else if (problem.descending)
    sort_by(down, problem, stream, from, to);
  else
    sort_by(up, problem, stream, from, to);
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
