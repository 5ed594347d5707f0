// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/sort.h"

#include "libraries/host/thrust.h"

#include <thrust/copy.h>
#include <thrust/sort.h>

namespace kg::vendor {
namespace thrust_host {
namespace {

// Not thrust::less, for which Thrust uses a radix sort: it places negative integers after the
// others.
struct KeyBefore {
  bool descending;
  template <class T>
  bool operator()(T a, T b) const {
    return descending ? b < a : a < b;
  }
};

// Thrust sorts in place, so the input is copied first.
template <class T>
void sort_copies(const SortProblem& problem, const void* keys, void* sorted_keys,
                 const std::int32_t* values, std::int32_t* sorted_values) {
  const auto* from = static_cast<const T*>(keys);
  auto* to = static_cast<T*>(sorted_keys);
  const std::int64_t n = problem.n;
  const KeyBefore before{problem.descending};
  thrust::copy(thrust::device, from, from + n, to);
  if (!problem.pairs) return thrust::stable_sort(thrust::device, to, to + n, before);
  thrust::copy(thrust::device, values, values + n, sorted_values);
  thrust::stable_sort_by_key(thrust::device, to, to + n, sorted_values, before);
}

bool sort_supported(const SortProblem& problem) {
  return problem.all_bits() && (problem.dtype == Dtype::f32 || is_integer(problem.dtype));
}

void sort(const SortProblem& problem, const void* keys, void* sorted_keys,
          const std::int32_t* values, std::int32_t* sorted_values, Stream&) {
  const auto of_type = [&](auto key) {
    sort_copies<decltype(key)>(problem, keys, sorted_keys, values, sorted_values);
  };
  switch (problem.dtype) {
  case Dtype::i32: return of_type(std::int32_t{});
  case Dtype::u32: return of_type(std::uint32_t{});
  case Dtype::i64: return of_type(std::int64_t{});
  default: return of_type(float{});
  }
}

} // namespace
} // namespace thrust_host

const Table<SortVariant> sort_table = {{"thrust", thrust_host::sort_supported, thrust_host::sort}};

} // namespace kg::vendor
