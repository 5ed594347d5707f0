// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/elementwise/elementwise.h"

#include "vendor/cuda/cudnn.h"
#include "vendor/cuda/thrust.h"

#include <thrust/transform.h>

namespace kg::vendor {
namespace cudnn {
namespace {

using OpTensor =
    Owned<cudnnOpTensorDescriptor_t, cudnnCreateOpTensorDescriptor, cudnnDestroyOpTensorDescriptor>;

// cudnnOpTensor: add, mul, and sub as a + (-1) b, which is the same number. There is no division.
// f16 and bf16 compute in f32.
bool elementwise_supported(Binary op, Dtype dtype) {
  return op != Binary::div && type_of(dtype).has_value();
}

void elementwise(Binary op, Dtype dtype, const void* a, const void* b, void* out, std::int64_t n,
                 Stream& stream) {
  const OpTensor operation;
  KG_CHECK(cudnnSetOpTensorDescriptor(operation.get(),
                                      op == Binary::mul ? CUDNN_OP_TENSOR_MUL : CUDNN_OP_TENSOR_ADD,
                                      CUDNN_DATA_FLOAT, CUDNN_PROPAGATE_NAN));
  const Tensor each(type_of(dtype).value(), 1, n);
  const float one = 1;
  const float second = op == Binary::sub ? -1.0F : 1.0F;
  const float zero = 0;
  KG_CHECK(cudnnOpTensor(handle_on(stream), operation.get(), &one, each.get(), a, &second,
                         each.get(), b, &zero, each.get(), out));
}

} // namespace
} // namespace cudnn

namespace thrust_cuda {
namespace {

template <Binary op, class T>
struct Apply {
  __device__ T operator()(T a, T b) const {
    const float x = widen(a);
    const float y = widen(b);
    if constexpr (op == Binary::add) return narrow<T>(x + y);
    if constexpr (op == Binary::sub) return narrow<T>(x - y);
    if constexpr (op == Binary::mul) return narrow<T>(x * y);
    if constexpr (op == Binary::div) return narrow<T>(x / y);
  }
};

template <Binary op, class T>
void transform(const void* a, const void* b, void* out, std::int64_t n, Stream& stream) {
  const T* first = static_cast<const T*>(a);
  thrust::transform(thrust::cuda::par_nosync.on(cuda::native(stream)), first, first + n,
                    static_cast<const T*>(b), static_cast<T*>(out), Apply<op, T>());
}

template <class T>
void elementwise(Binary op, const void* a, const void* b, void* out, std::int64_t n,
                 Stream& stream) {
  switch (op) {
  case Binary::add: return transform<Binary::add, T>(a, b, out, n, stream);
  case Binary::sub: return transform<Binary::sub, T>(a, b, out, n, stream);
  case Binary::mul: return transform<Binary::mul, T>(a, b, out, n, stream);
  case Binary::div: return transform<Binary::div, T>(a, b, out, n, stream);
  }
}

bool elementwise_supported(Binary, Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16;
}

void elementwise(Binary op, Dtype dtype, const void* a, const void* b, void* out, std::int64_t n,
                 Stream& stream) {
  translate("transform", [&] {
    if (dtype == Dtype::f32) elementwise<float>(op, a, b, out, n, stream);
    if (dtype == Dtype::f16) elementwise<__half>(op, a, b, out, n, stream);
    if (dtype == Dtype::bf16) elementwise<__nv_bfloat16>(op, a, b, out, n, stream);
  });
}

} // namespace
} // namespace thrust_cuda

namespace {

constexpr ElementwiseVariant kTable[] = {
    {"thrust", thrust_cuda::elementwise_supported, thrust_cuda::elementwise},
    {"cudnn", cudnn::elementwise_supported, cudnn::elementwise},
};

} // namespace

std::span<const ElementwiseVariant> elementwise_table() { return kTable; }

} // namespace kg::vendor
