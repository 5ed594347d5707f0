// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/activation.h"

#include "vendor/cuda/cudnn_activation.h"
#include "vendor/cuda/thrust.h"
#include "vendor/cuda/thrust_activation.h"

#include <thrust/transform.h>

namespace kg::vendor {
namespace cudnn {
namespace {

// cudnnActivationForward: all but the gelus.
bool activation_supported(activation::Function function, Dtype dtype) {
  return mode_of(function).has_value() && type_of(dtype).has_value();
}

void activation(activation::Function function, Dtype dtype, const void* x, void* y, std::int64_t n,
                Stream& stream) {
  const ActivationDescriptor descriptor(function);
  const Tensor each(type_of(dtype).value(), 1, n);
  const float one = 1;
  const float zero = 0;
  KG_CHECK(cudnnActivationForward(handle_on(stream), descriptor.get(), &one, each.get(), x, &zero,
                                  each.get(), y));
}

} // namespace
} // namespace cudnn

namespace thrust_cuda {
namespace {

template <activation::Function function, class T>
struct Apply {
  __device__ T operator()(T x) const { return narrow<T>(activated<function>(widen(x))); }
};

template <activation::Function function, class T>
void transform(const void* x, void* y, std::int64_t n, Stream& stream) {
  const T* first = static_cast<const T*>(x);
  thrust::transform(thrust::cuda::par_nosync.on(cuda::native(stream)), first, first + n,
                    static_cast<T*>(y), Apply<function, T>());
}

template <class T>
void activation(activation::Function function, const void* x, void* y, std::int64_t n,
                Stream& stream) {
  switch (function) {
  case activation::Function::relu: return transform<activation::Function::relu, T>(x, y, n, stream);
  case activation::Function::sigmoid:
    return transform<activation::Function::sigmoid, T>(x, y, n, stream);
  case activation::Function::tanh: return transform<activation::Function::tanh, T>(x, y, n, stream);
  case activation::Function::gelu: return transform<activation::Function::gelu, T>(x, y, n, stream);
  case activation::Function::gelu_tanh:
    return transform<activation::Function::gelu_tanh, T>(x, y, n, stream);
  case activation::Function::silu: return transform<activation::Function::silu, T>(x, y, n, stream);
  }
}

bool activation_supported(activation::Function, Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16;
}

void activation(activation::Function function, Dtype dtype, const void* x, void* y, std::int64_t n,
                Stream& stream) {
  translate("transform", [&] {
    if (dtype == Dtype::f32) activation<float>(function, x, y, n, stream);
    if (dtype == Dtype::f16) activation<__half>(function, x, y, n, stream);
    if (dtype == Dtype::bf16) activation<__nv_bfloat16>(function, x, y, n, stream);
  });
}

} // namespace
} // namespace thrust_cuda

std::span<const ActivationVariant> activation_table() {
  static constexpr ActivationVariant kTable[] = {
      {"thrust", thrust_cuda::activation_supported, thrust_cuda::activation},
      {"cudnn", cudnn::activation_supported, cudnn::activation},
  };
  return kTable;
}

} // namespace kg::vendor
