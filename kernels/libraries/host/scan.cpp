// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/scan.h"

#include "libraries/host/thrust.h"

#include <thrust/functional.h>
#include <thrust/scan.h>

#include <limits>

namespace kg::vendor {
namespace thrust_host {
namespace {

// For scan_by_key with the heads as keys: two neighbours share a segment unless the second begins a
// new one.
struct SameSegment {
  bool operator()(std::int8_t, std::int8_t next) const { return next == 0; }
};

template <class T, class Combine>
void scan_with(const ScanProblem& problem, const void* x, const std::int8_t* heads, void* y,
               T identity, Combine combine) {
  const auto* from = static_cast<const T*>(x);
  auto* to = static_cast<T*>(y);
  const std::int64_t n = problem.n;
  const bool inclusive = problem.kind == scan::Kind::inclusive;
  if (problem.segmented && inclusive)
    thrust::inclusive_scan_by_key(thrust::device, heads, heads + n, from, to, SameSegment{},
                                  combine);
  else if (problem.segmented)
    thrust::exclusive_scan_by_key(thrust::device, heads, heads + n, from, to, identity,
                                  SameSegment{}, combine);
  else if (inclusive)
    thrust::inclusive_scan(thrust::device, from, from + n, to, combine);
  else
    thrust::exclusive_scan(thrust::device, from, from + n, to, identity, combine);
}

bool scan_supported(const ScanProblem& problem) {
  return problem.dtype == Dtype::f32 || problem.dtype == Dtype::i32;
}

void scan(const ScanProblem& problem, const void* x, const std::int8_t* heads, void* y, Stream&) {
  const bool sum = problem.op == scan::Op::sum;
  if (problem.dtype == Dtype::i32) {
    if (sum) return scan_with(problem, x, heads, y, 0U, thrust::plus<unsigned>()); // modulo 2^32
    return scan_with(problem, x, heads, y, std::numeric_limits<int>::min(), thrust::maximum<int>());
  }
  if (sum) return scan_with(problem, x, heads, y, 0.0F, thrust::plus<float>());
  scan_with(problem, x, heads, y, -std::numeric_limits<float>::infinity(),
            thrust::maximum<float>());
}

} // namespace
} // namespace thrust_host

const Table<ScanVariant> scan_table = {{"thrust", thrust_host::scan_supported, thrust_host::scan}};

} // namespace kg::vendor
