// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/cuda/cub.h"

#include "runtime/cuda/native.h"
#include "runtime/cuda/status.h"
#include "vendor/cuda/scratch.h"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/version.cuh>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace kg::vendor::cub_device {
namespace {

// Where row i begins.
struct RowStart {
  std::int64_t cols;
  __host__ __device__ std::int64_t operator()(std::int64_t row) const { return row * cols; }
};

// CUB's two calls: without storage it says how much it wants, with storage it runs.
template <class Call>
void with_storage(Call call, Stream& stream) {
  std::size_t bytes = 0;
  call(nullptr, bytes);
  call(scratch(bytes, stream), bytes);
}

} // namespace

std::string version() {
  return std::to_string(CUB_MAJOR_VERSION) + "." + std::to_string(CUB_MINOR_VERSION) + "." +
         std::to_string(CUB_SUBMINOR_VERSION);
}

bool reduction_supported(SumAxis axis) { return axis != SumAxis::columns; }

void reduction(SumAxis axis, const float* x, std::int64_t rows, std::int64_t cols, float* out,
               Stream& stream) {
  cudaStream_t raw_stream = cuda::native(stream);
  if (axis == SumAxis::all) {
    with_storage(
        [&](void* storage, std::size_t& bytes) {
          KG_CHECK(cub::DeviceReduce::Sum(storage, bytes, x, out, rows * cols, raw_stream));
        },
        stream);
    return;
  }
  const auto begin =
      thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0), RowStart{cols});
  with_storage(
      [&](void* storage, std::size_t& bytes) {
        KG_CHECK(cub::DeviceSegmentedReduce::Sum(storage, bytes, x, out, rows, begin, begin + 1,
                                                 raw_stream));
      },
      stream);
}

} // namespace kg::vendor::cub_device
