// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/histogram.h"

#include "libraries/cuda/thrust.h"

#include <cub/device/device_histogram.cuh>
#include <thrust/iterator/transform_iterator.h>

namespace kg::vendor {
namespace cub_device {
namespace {

// For one-byte samples CUB (CCCL 3.0.1) first builds a histogram by value, which omits negative
// samples (agent_histogram.cuh: `if (bin >= 0)`). So CUB gets 32-bit integers, like the bounds.
struct Widened {
  __host__ __device__ std::int32_t operator()(std::int8_t sample) const { return sample; }
};

// cub::DeviceHistogram::HistogramEven
template <class Level, class Samples>
void count(const HistogramProblem& problem, Samples x, std::int32_t* counts, Stream& stream) {
  with_storage(stream, [&](void* storage, std::size_t& bytes) {
    KG_CHECK(cub::DeviceHistogram::HistogramEven(
        storage, bytes, x, counts, static_cast<int>(problem.bins) + 1,
        static_cast<Level>(problem.lower), static_cast<Level>(problem.upper),
        static_cast<int>(problem.n), cuda::native(stream)));
  });
}

bool histogram_supported(const HistogramProblem& problem) {
  return problem.dtype == Dtype::f32 || problem.dtype == Dtype::i32 || problem.dtype == Dtype::i8;
}

void histogram(const HistogramProblem& problem, const void* x, std::int32_t* counts,
               Stream& stream) {
  if (problem.dtype == Dtype::i32)
    return count<std::int32_t>(problem, static_cast<const std::int32_t*>(x), counts, stream);
  if (problem.dtype == Dtype::i8)
    return count<std::int32_t>(
        problem, thrust::make_transform_iterator(static_cast<const std::int8_t*>(x), Widened{}),
        counts, stream);
  count<float>(problem, static_cast<const float*>(x), counts, stream);
}

} // namespace
} // namespace cub_device

const Table<HistogramVariant> histogram_table = {
    {"cub", cub_device::histogram_supported, cub_device::histogram}};

} // namespace kg::vendor
