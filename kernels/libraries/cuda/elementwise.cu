// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/elementwise.h"

#include "libraries/cuda/cudnn.h"
#include "libraries/cuda/thrust_arithmetic.h"

#include <cstdint>

#include <thrust/functional.h>
#include <thrust/transform.h>

namespace kg::vendor {
namespace cudnn {
namespace {

using OpTensor =
    Owned<cudnnOpTensorDescriptor_t, cudnnCreateOpTensorDescriptor, cudnnDestroyOpTensorDescriptor>;

// cudnnOpTensor: add, mul, and sub as a + (-1) b, which gives the same result. No division. f16 and
// bf16 compute in f32.
bool elementwise_supported(elementwise::Op op, Dtype dtype) {
  return op != elementwise::Op::div && type_of(dtype).has_value();
}

void elementwise(elementwise::Op op, Dtype dtype, const void* a, const void* b, void* out,
                 std::int64_t n, Stream& stream) {
  const OpTensor operation;
  KG_CHECK(cudnnSetOpTensorDescriptor(
      operation.get(), op == elementwise::Op::mul ? CUDNN_OP_TENSOR_MUL : CUDNN_OP_TENSOR_ADD,
      CUDNN_DATA_FLOAT, CUDNN_PROPAGATE_NAN));
  const Tensor each(type_of(dtype).value(), 1, n);
  const float second = op == elementwise::Op::sub ? -1.0F : 1.0F;
  KG_CHECK(cudnnOpTensor(handle_on(stream), operation.get(), &kOne, each.get(), a, &second,
                         each.get(), b, &kZero, each.get(), out));
}

} // namespace
} // namespace cudnn

namespace thrust_cuda {
namespace {

template <class T, class Function>
void transform(const void* a, const void* b, void* out, std::int64_t n, Stream& stream,
               Function function) {
  const T* first = static_cast<const T*>(a);
  thrust::transform(on(stream), first, first + n, static_cast<const T*>(b), static_cast<T*>(out),
                    of_copies(function));
}

bool elementwise_supported(elementwise::Op op, Dtype dtype) {
  return op == elementwise::Op::add || (dtype != Dtype::f64 && dtype != Dtype::i32);
}

void elementwise(elementwise::Op op, Dtype dtype, const void* a, const void* b, void* out,
                 std::int64_t n, Stream& stream) {
  translate("transform", [&] {
    if (dtype == Dtype::f64) return transform<double>(a, b, out, n, stream, thrust::plus<double>());
    if (dtype == Dtype::i32) // unsigned, which wraps around
      return transform<std::uint32_t>(a, b, out, n, stream, thrust::plus<std::uint32_t>());
    with_float(dtype, [&](auto element) {
      using T = decltype(element);
      with_combine<T>(op, [&](auto combine) { transform<T>(a, b, out, n, stream, combine); });
    });
  });
}

} // namespace
} // namespace thrust_cuda

const Table<ElementwiseVariant> elementwise_table = {
    {"thrust", thrust_cuda::elementwise_supported, thrust_cuda::elementwise},
    {"cudnn", cudnn::elementwise_supported, cudnn::elementwise},
};

} // namespace kg::vendor
