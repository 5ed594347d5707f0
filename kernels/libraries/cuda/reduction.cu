// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/reduction.h"

#include "libraries/cuda/cublas.h"
#include "libraries/cuda/cudnn.h"
#include "libraries/cuda/thrust.h"
#include "runtime/memory.h"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>
#include <thrust/reduce.h>

#include <limits>

namespace kg::vendor {
namespace cub_device {
namespace {

// Offset of a row.
struct RowStart {
  std::int64_t cols;
  __host__ __device__ std::int64_t operator()(std::int64_t row) const { return row * cols; }
};

// CUB accumulates in the result type of an operator: f32, also for narrower elements.
struct Widen {
  template <class T>
  __device__ float operator()(T value) const {
    return thrust_cuda::widen(value);
  }
};

template <class T>
struct Finish {
  float divisor;
  __device__ T operator()(float value) const { return thrust_cuda::narrow<T>(value / divisor); }
};

template <class A>
struct Add {
  __device__ A operator()(A a, A b) const { return a + b; }
};

// NaN propagates, as with cuDNN's PROPAGATE_NAN.
template <bool largest>
struct Extreme {
  __device__ float operator()(float a, float b) const {
    const bool better = largest ? b > a : b < a;
    return better || b != b ? b : a;
  }
};

// Whole tensors (DeviceReduce::Reduce) and rows (DeviceSegmentedReduce::Reduce).
template <class From, class To, class Combine, class A>
void reduce(const ReductionProblem& problem, From x, To out, Combine combine, A identity,
            Stream& stream) {
  cudaStream_t raw_stream = cuda::native(stream);
  if (problem.outer == 1) {
    with_storage(stream, [&](void* storage, std::size_t& bytes) {
      KG_CHECK(cub::DeviceReduce::Reduce(storage, bytes, x, out, problem.axis, combine, identity,
                                         raw_stream));
    });
    return;
  }
  const auto begin = thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0),
                                                     RowStart{problem.axis});
  with_storage(stream, [&](void* storage, std::size_t& bytes) {
    KG_CHECK(cub::DeviceSegmentedReduce::Reduce(storage, bytes, x, out, problem.outer, begin,
                                                begin + 1, combine, identity, raw_stream));
  });
}

template <class T>
void reduce_floats(const ReductionProblem& problem, const void* x, void* out, Stream& stream) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const thrust::transform_iterator<Widen, const T*, float, float> from(static_cast<const T*>(x),
                                                                       Widen{});
  const float divisor = problem.op == reduction::Op::mean ? static_cast<float>(problem.axis) : 1.0F;
  const auto to = thrust::make_transform_output_iterator(static_cast<T*>(out), Finish<T>{divisor});
  switch (problem.op) {
  case reduction::Op::sum:
  case reduction::Op::mean: return reduce(problem, from, to, Add<float>{}, 0.0F, stream);
  case reduction::Op::max: return reduce(problem, from, to, Extreme<true>{}, -kInfinity, stream);
  case reduction::Op::min: return reduce(problem, from, to, Extreme<false>{}, kInfinity, stream);
  }
}

bool reduction_supported(const ReductionProblem& problem) {
  const bool wraps = problem.dtype == Dtype::i32 && problem.op == reduction::Op::sum;
  return problem.inner == 1 && (thrust_cuda::is_float(problem.dtype) || wraps);
}

void reduction(const ReductionProblem& problem, const void* x, void* out, Stream& stream) {
  if (problem.dtype == Dtype::i32) // modulo 2^32
    return reduce(problem, static_cast<const unsigned*>(x), static_cast<unsigned*>(out),
                  Add<unsigned>{}, 0U, stream);
  thrust_cuda::with_float(problem.dtype, [&](auto element) {
    reduce_floats<decltype(element)>(problem, x, out, stream);
  });
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

// f32 sums of whole tensors (thrust::reduce) and of rows (thrust::reduce_by_key). Both wait for the
// stream and allocate. Other reductions are left to the variant cub, since Thrust calls CUB.
bool reduction_supported(const ReductionProblem& problem) {
  return problem.op == reduction::Op::sum && problem.dtype == Dtype::f32 && problem.inner == 1;
}

void reduction(const ReductionProblem& problem, const void* x, void* out, Stream& stream) {
  const auto policy = thrust::cuda::par.on(cuda::native(stream));
  const auto* from = static_cast<const float*>(x);
  const std::int64_t cols = problem.axis;
  if (problem.outer == 1) {
    float sum = 0;
    translate("reduce", [&] { sum = thrust::reduce(policy, from, from + cols, 0.0F); });
    copy_to_device(out, &sum, sizeof sum, stream);
    return;
  }
  translate("reduce_by_key", [&] {
    const auto row =
        thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0), RowOf{cols});
    thrust::reduce_by_key(policy, row, row + problem.outer * cols, from,
                          thrust::make_discard_iterator(), static_cast<float*>(out));
  });
}

} // namespace
} // namespace thrust_cuda

namespace cublas {
namespace {

// f32 sums and means of the rows or columns of a matrix, as products with a vector of ones
// (cublasSgemv).
bool reduction_supported(const ReductionProblem& problem) {
  return (problem.op == reduction::Op::sum || problem.op == reduction::Op::mean) &&
         problem.dtype == Dtype::f32 && (problem.outer == 1) != (problem.inner == 1);
}

// The rows of x are the columns of its column view, so our column sums are its row sums.
void reduction(const ReductionProblem& problem, const void* x, void* out, Stream& stream) {
  const float scale =
      problem.op == reduction::Op::mean ? 1 / static_cast<float>(problem.axis) : 1.0F;
  const float zero = 0;
  const bool columns = problem.outer == 1;
  const std::int64_t rows = columns ? problem.axis : problem.outer;
  const std::int64_t cols = columns ? problem.inner : problem.axis;
  const float* vector = ones(problem.axis, stream);
  KG_CHECK(cublasSgemv_64(
      handle_on(stream, CUBLAS_PEDANTIC_MATH), columns ? CUBLAS_OP_N : CUBLAS_OP_T, cols, rows,
      &scale, static_cast<const float*>(x), cols, vector, 1, &zero, static_cast<float*>(out), 1));
}

} // namespace
} // namespace cublas

namespace cudnn {
namespace {

using ReduceTensor = Owned<cudnnReduceTensorDescriptor_t, cudnnCreateReduceTensorDescriptor,
                           cudnnDestroyReduceTensorDescriptor>;

cudnnReduceTensorOp_t operation_of(reduction::Op op) {
  switch (op) {
  case reduction::Op::sum: return CUDNN_REDUCE_TENSOR_ADD;
  case reduction::Op::mean: return CUDNN_REDUCE_TENSOR_AVG;
  case reduction::Op::max: return CUDNN_REDUCE_TENSOR_MAX;
  case reduction::Op::min: return CUDNN_REDUCE_TENSOR_MIN;
  }
  return CUDNN_REDUCE_TENSOR_ADD;
}

bool reduction_supported(const ReductionProblem& problem) {
  return problem.dtype == Dtype::f32 || problem.dtype == Dtype::f16;
}

// cudnnReduceTensor, in f32.
void reduction(const ReductionProblem& problem, const void* x, void* out, Stream& stream) {
  const cudnnDataType_t type = type_of(problem.dtype).value();
  const ReduceTensor operation;
  KG_CHECK(cudnnSetReduceTensorDescriptor(operation.get(), operation_of(problem.op),
                                          CUDNN_DATA_FLOAT, CUDNN_PROPAGATE_NAN,
                                          CUDNN_REDUCE_TENSOR_NO_INDICES, CUDNN_32BIT_INDICES));
  const Tensor from(type, {problem.outer, problem.axis, problem.inner, 1});
  const Tensor to(type, {problem.outer, 1, problem.inner, 1});
  cudnnHandle_t handle = handle_on(stream);
  std::size_t bytes = 0;
  KG_CHECK(cudnnGetReductionWorkspaceSize(handle, operation.get(), from.get(), to.get(), &bytes));
  KG_CHECK(cudnnReduceTensor(handle, operation.get(), nullptr, 0, scratch(bytes, stream), bytes,
                             &kOne, from.get(), x, &kZero, to.get(), out));
}

} // namespace
} // namespace cudnn

const Table<ReductionVariant> reduction_table = {
    {"cub", cub_device::reduction_supported, cub_device::reduction},
    {"thrust", thrust_cuda::reduction_supported, thrust_cuda::reduction},
    {"cublas", cublas::reduction_supported, cublas::reduction},
    {"cudnn", cudnn::reduction_supported, cudnn::reduction},
};

} // namespace kg::vendor
