// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/histogram.h"

#include "libraries/host/thrust.h"

#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include <memory>
#include <type_traits>

namespace kg::vendor {
namespace thrust_host {
namespace {

// Elements outside the range get index `bins`, after the last bin.
template <class T>
struct BinOf {
  std::int64_t bins;
  T lower, upper;
  double width;
  float scale;
  std::int32_t operator()(T x) const {
    if (!(x >= lower && x <= upper)) return static_cast<std::int32_t>(bins);
    const auto bin = std::is_same_v<T, float>
                         ? static_cast<std::int64_t>(static_cast<float>(x - lower) * scale)
                         : static_cast<std::int64_t>(
                               (static_cast<double>(x) - static_cast<double>(lower)) / width);
    return static_cast<std::int32_t>(bin < bins ? bin : bins - 1);
  }
};

// Thrust has no histogram: maps elements to bins, sorts these and counts them by binary search.
template <class T>
void count(const HistogramProblem& problem, const void* x, std::int32_t* counts) {
  const auto* from = static_cast<const T*>(x);
  const auto n = static_cast<std::size_t>(problem.n);
  const std::unique_ptr<std::int32_t[]> memory(new std::int32_t[n]);
  std::int32_t* const bin = memory.get();
  const double span = problem.upper - problem.lower;
  const float scale = static_cast<float>(problem.bins) /
                      (static_cast<float>(problem.upper) - static_cast<float>(problem.lower));
  // The largest number below the upper bound.
  const T last = std::is_same_v<T, float>
                     ? static_cast<T>(__builtin_nextafterf(static_cast<float>(problem.upper),
                                                           -__builtin_inff()))
                     : static_cast<T>(problem.upper - 1);
  thrust::transform(thrust::device, from, from + n, bin,
                    BinOf<T>{problem.bins, static_cast<T>(problem.lower), last,
                             span / static_cast<double>(problem.bins), scale});
  thrust::sort(thrust::device, bin, bin + n);
  const thrust::counting_iterator<std::int64_t> first(0);
  thrust::upper_bound(thrust::device, bin, bin + n, first, first + problem.bins, counts);
  thrust::adjacent_difference(thrust::device, counts, counts + problem.bins, counts);
}

bool histogram_supported(const HistogramProblem& problem) {
  return problem.dtype == Dtype::f32 || problem.dtype == Dtype::i32 || problem.dtype == Dtype::i8;
}

void histogram(const HistogramProblem& problem, const void* x, std::int32_t* counts, Stream&) {
  if (problem.dtype == Dtype::i32) return count<std::int32_t>(problem, x, counts);
  if (problem.dtype == Dtype::i8) return count<std::int8_t>(problem, x, counts);
  count<float>(problem, x, counts);
}

} // namespace
} // namespace thrust_host

const Table<HistogramVariant> histogram_table = {
    {"thrust", thrust_host::histogram_supported, thrust_host::histogram}};

} // namespace kg::vendor
