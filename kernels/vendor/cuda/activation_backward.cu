// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/activation_backward.h"

#include "vendor/cuda/cudnn_activation.h"
#include "vendor/cuda/thrust.h"
#include "vendor/cuda/thrust_activation.h"

#include <thrust/transform.h>

namespace kg::vendor {
namespace cudnn {
namespace {

// cudnnActivationBackward: all but the gelus. It is handed both x and y.
bool backward_supported(activation::Function function, Dtype dtype) {
  return mode_of(function).has_value() && type_of(dtype).has_value();
}

void backward(activation::Function function, Dtype dtype, const void* x, const void* y,
              const void* dy, void* dx, std::int64_t n, Stream& stream) {
  const ActivationDescriptor descriptor(function);
  const Tensor each(type_of(dtype).value(), 1, n);
  const float one = 1;
  const float zero = 0;
  KG_CHECK(cudnnActivationBackward(handle_on(stream), descriptor.get(), &one, each.get(), y,
                                   each.get(), dy, each.get(), x, &zero, each.get(), dx));
}

} // namespace
} // namespace cudnn

namespace thrust_cuda {
namespace {

template <activation::Function function, class T>
struct Apply {
  __device__ T operator()(T x, T dy) const {
    return narrow<T>(widen(dy) * slope<function>(widen(x)));
  }
};

template <activation::Function function, class T>
void transform(const void* x, const void* dy, void* dx, std::int64_t n, Stream& stream) {
  const T* first = static_cast<const T*>(x);
  thrust::transform(thrust::cuda::par_nosync.on(cuda::native(stream)), first, first + n,
                    static_cast<const T*>(dy), static_cast<T*>(dx), Apply<function, T>());
}

template <class T>
void backward(activation::Function function, const void* x, const void* dy, void* dx,
              std::int64_t n, Stream& stream) {
  switch (function) {
  case activation::Function::relu:
    return transform<activation::Function::relu, T>(x, dy, dx, n, stream);
  case activation::Function::sigmoid:
    return transform<activation::Function::sigmoid, T>(x, dy, dx, n, stream);
  case activation::Function::tanh:
    return transform<activation::Function::tanh, T>(x, dy, dx, n, stream);
  case activation::Function::gelu:
    return transform<activation::Function::gelu, T>(x, dy, dx, n, stream);
  case activation::Function::gelu_tanh:
    return transform<activation::Function::gelu_tanh, T>(x, dy, dx, n, stream);
  case activation::Function::silu:
    return transform<activation::Function::silu, T>(x, dy, dx, n, stream);
  }
}

bool backward_supported(activation::Function, Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16;
}

void backward(activation::Function function, Dtype dtype, const void* x, const void*,
              const void* dy, void* dx, std::int64_t n, Stream& stream) {
  translate("transform", [&] {
    if (dtype == Dtype::f32) backward<float>(function, x, dy, dx, n, stream);
    if (dtype == Dtype::f16) backward<__half>(function, x, dy, dx, n, stream);
    if (dtype == Dtype::bf16) backward<__nv_bfloat16>(function, x, dy, dx, n, stream);
  });
}

} // namespace
} // namespace thrust_cuda

std::span<const ActivationBackwardVariant> activation_backward_table() {
  static constexpr ActivationBackwardVariant kTable[] = {
      {"thrust", thrust_cuda::backward_supported, thrust_cuda::backward},
      {"cudnn", cudnn::backward_supported, cudnn::backward},
  };
  return kTable;
}

} // namespace kg::vendor
