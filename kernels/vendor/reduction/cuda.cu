// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/reduction/reduction.h"

#include "runtime/memory.h"
#include "vendor/cuda/cublas.h"
#include "vendor/cuda/cudnn.h"
#include "vendor/cuda/thrust.h"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>

namespace kg::vendor {
namespace cub_device {
namespace {

// Where row i begins.
struct RowStart {
  std::int64_t cols;
  __host__ __device__ std::int64_t operator()(std::int64_t row) const { return row * cols; }
};

// All of it (DeviceReduce::Sum) and rows (DeviceSegmentedReduce::Sum).
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

} // namespace
} // namespace cub_device

namespace thrust_cuda {
namespace {

// The row of the i-th element.
struct RowOf {
  std::int64_t cols;
  __host__ __device__ std::int64_t operator()(std::int64_t i) const { return i / cols; }
};

// All of it (thrust::reduce) and rows (thrust::reduce_by_key). Both wait for the stream and
// allocate.
bool reduction_supported(SumAxis axis) { return axis != SumAxis::columns; }

void reduction(SumAxis axis, const float* x, std::int64_t rows, std::int64_t cols, float* out,
               Stream& stream) {
  const auto policy = thrust::cuda::par.on(cuda::native(stream));
  if (axis == SumAxis::all) {
    float sum = 0;
    translate("reduce", [&] { sum = thrust::reduce(policy, x, x + rows * cols, 0.0F); });
    copy_to_device(out, &sum, sizeof sum, stream);
    return;
  }
  translate("reduce_by_key", [&] {
    const auto row =
        thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0), RowOf{cols});
    thrust::reduce_by_key(policy, row, row + rows * cols, x, thrust::make_discard_iterator(), out);
  });
}

} // namespace
} // namespace thrust_cuda

namespace cublas {
namespace {

// Rows and columns as products with a vector of ones (cublasSgemv).
bool reduction_supported(SumAxis axis) { return axis != SumAxis::all; }

// The column view of x is cols x rows: its row sums are our column sums.
void reduction(SumAxis axis, const float* x, std::int64_t rows, std::int64_t cols, float* out,
               Stream& stream) {
  const float one = 1;
  const float zero = 0;
  const bool columns = axis == SumAxis::columns;
  const float* vector = ones(columns ? rows : cols, stream);
  KG_CHECK(cublasSgemv_64(handle_on(stream, CUBLAS_PEDANTIC_MATH),
                          columns ? CUBLAS_OP_N : CUBLAS_OP_T, cols, rows, &one, x, cols, vector, 1,
                          &zero, out, 1));
}

} // namespace
} // namespace cublas

namespace cudnn {
namespace {

using ReduceTensor = Owned<cudnnReduceTensorDescriptor_t, cudnnCreateReduceTensorDescriptor,
                           cudnnDestroyReduceTensorDescriptor>;

// cudnnReduceTensor.
void reduction(SumAxis axis, const float* x, std::int64_t rows, std::int64_t cols, float* out,
               Stream& stream) {
  const std::int64_t out_rows = axis == SumAxis::rows ? rows : 1;
  const std::int64_t out_cols = axis == SumAxis::columns ? cols : 1;
  const ReduceTensor sum;
  KG_CHECK(cudnnSetReduceTensorDescriptor(sum.get(), CUDNN_REDUCE_TENSOR_ADD, CUDNN_DATA_FLOAT,
                                          CUDNN_PROPAGATE_NAN, CUDNN_REDUCE_TENSOR_NO_INDICES,
                                          CUDNN_32BIT_INDICES));
  const Tensor from(CUDNN_DATA_FLOAT, rows, cols);
  const Tensor to(CUDNN_DATA_FLOAT, out_rows, out_cols);
  cudnnHandle_t handle = handle_on(stream);
  std::size_t bytes = 0;
  KG_CHECK(cudnnGetReductionWorkspaceSize(handle, sum.get(), from.get(), to.get(), &bytes));
  const float one = 1;
  const float zero = 0;
  KG_CHECK(cudnnReduceTensor(handle, sum.get(), nullptr, 0, scratch(bytes, stream), bytes, &one,
                             from.get(), x, &zero, to.get(), out));
}

} // namespace
} // namespace cudnn

namespace {

bool any_axis(SumAxis) { return true; }

constexpr ReductionVariant kTable[] = {
    {"cub", cub_device::reduction_supported, cub_device::reduction},
    {"thrust", thrust_cuda::reduction_supported, thrust_cuda::reduction},
    {"cublas", cublas::reduction_supported, cublas::reduction},
    {"cudnn", any_axis, cudnn::reduction},
};

} // namespace

std::span<const ReductionVariant> reduction_table() { return kTable; }

} // namespace kg::vendor
