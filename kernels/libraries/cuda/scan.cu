// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/scan.h"

#include "libraries/cuda/thrust.h"

#include <cub/device/device_scan.cuh>

#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>

#include <limits>

namespace kg::vendor {
namespace cub_device {
namespace {

// For scans by key with the heads as keys.
struct SameSegment {
  __host__ __device__ bool operator()(std::int8_t, std::int8_t next) const { return next == 0; }
};

struct WidenElement {
  template <class T>
  __device__ float operator()(T value) const {
    return thrust_cuda::widen(value);
  }
};
template <class T>
struct NarrowResult {
  __device__ T operator()(float value) const { return thrust_cuda::narrow<T>(value); }
};

struct AddTwo {
  template <class A>
  __host__ __device__ A operator()(A a, A b) const {
    return a + b;
  }
};
struct LargerOfTwo {
  template <class A>
  __host__ __device__ A operator()(A a, A b) const {
    return a > b || a != a ? a : b;
  }
};

template <class From, class To, class A, class Combine>
void scan_with(const ScanProblem& problem, From x, const std::int8_t* heads, To y, A identity,
               Combine combine, Stream& stream) {
  cudaStream_t raw_stream = cuda::native(stream);
  const std::int64_t n = problem.n;
  const bool inclusive = problem.kind == scan::Kind::inclusive;
  with_storage(stream, [&](void* storage, std::size_t& bytes) {
    if (problem.segmented && inclusive)
      KG_CHECK(cub::DeviceScan::InclusiveScanByKey(storage, bytes, heads, x, y, combine, n,
                                                   SameSegment{}, raw_stream));
    else if (problem.segmented)
      KG_CHECK(cub::DeviceScan::ExclusiveScanByKey(storage, bytes, heads, x, y, combine, identity,
                                                   n, SameSegment{}, raw_stream));
    else if (inclusive)
      KG_CHECK(cub::DeviceScan::InclusiveScan(storage, bytes, x, y, combine, n, raw_stream));
    else
      KG_CHECK(
          cub::DeviceScan::ExclusiveScan(storage, bytes, x, y, combine, identity, n, raw_stream));
  });
}

template <class T>
void scan_floats(const ScanProblem& problem, const void* x, const std::int8_t* heads, void* y,
                 Stream& stream) {
  const thrust::transform_iterator<WidenElement, const T*, float, float> from(
      static_cast<const T*>(x), WidenElement{});
  const auto to = thrust::make_transform_output_iterator(static_cast<T*>(y), NarrowResult<T>{});
  if (problem.op == scan::Op::sum)
    return scan_with(problem, from, heads, to, 0.0F, AddTwo{}, stream);
  scan_with(problem, from, heads, to, -std::numeric_limits<float>::infinity(), LargerOfTwo{},
            stream);
}

bool scan_supported(const ScanProblem& problem) {
  return thrust_cuda::is_float(problem.dtype) || problem.dtype == Dtype::i32;
}

void scan(const ScanProblem& problem, const void* x, const std::int8_t* heads, void* y,
          Stream& stream) {
  if (problem.dtype != Dtype::i32)
    return thrust_cuda::with_float(problem.dtype, [&](auto element) {
      scan_floats<decltype(element)>(problem, x, heads, y, stream);
    });
  if (problem.op == scan::Op::sum) // modulo 2^32
    return scan_with(problem, static_cast<const unsigned*>(x), heads, static_cast<unsigned*>(y), 0U,
                     AddTwo{}, stream);
  scan_with(problem, static_cast<const int*>(x), heads, static_cast<int*>(y),
            std::numeric_limits<int>::min(), LargerOfTwo{}, stream);
}

} // namespace
} // namespace cub_device

const Table<ScanVariant> scan_table = {{"cub", cub_device::scan_supported, cub_device::scan}};

} // namespace kg::vendor
