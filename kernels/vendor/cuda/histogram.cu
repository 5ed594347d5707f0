// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/histogram.h"

#include "vendor/cuda/thrust.h"

#include <cub/device/device_histogram.cuh>

namespace kg::vendor {
namespace cub_device {
namespace {

// cub::DeviceHistogram::HistogramEven; Level: the type of the bounds, which of bytes are beyond
// them.
template <class T, class Level>
void count(const HistogramProblem& problem, const void* x, std::int32_t* counts, Stream& stream) {
  with_storage(
      [&](void* storage, std::size_t& bytes) {
        KG_CHECK(cub::DeviceHistogram::HistogramEven(
            storage, bytes, static_cast<const T*>(x), counts, static_cast<int>(problem.bins) + 1,
            static_cast<Level>(problem.lower), static_cast<Level>(problem.upper),
            static_cast<int>(problem.n), cuda::native(stream)));
      },
      stream);
}

bool histogram_supported(const HistogramProblem& problem) {
  return problem.dtype == Dtype::f32 || problem.dtype == Dtype::i32 || problem.dtype == Dtype::i8;
}

void histogram(const HistogramProblem& problem, const void* x, std::int32_t* counts,
               Stream& stream) {
  if (problem.dtype == Dtype::i32)
    return count<std::int32_t, std::int32_t>(problem, x, counts, stream);
  if (problem.dtype == Dtype::i8)
    return count<std::int8_t, std::int32_t>(problem, x, counts, stream);
  count<float, float>(problem, x, counts, stream);
}

} // namespace
} // namespace cub_device

namespace {

constexpr HistogramVariant kTable[] = {
    {"cub", cub_device::histogram_supported, cub_device::histogram}};

} // namespace

std::span<const HistogramVariant> histogram_table() { return kTable; }

} // namespace kg::vendor
