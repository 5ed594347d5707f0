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
bool backward_supported(Activation function, Dtype dtype) {
  return mode_of(function).has_value() && type_of(dtype).has_value();
}

void backward(Activation function, Dtype dtype, const void* x, const void* y, const void* dy,
              void* dx, std::int64_t n, Stream& stream) {
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

template <Activation function, class T>
struct Apply {
  __device__ T operator()(T x, T dy) const {
    return narrow<T>(widen(dy) * slope<function>(widen(x)));
  }
};

template <Activation function, class T>
void transform(const void* x, const void* dy, void* dx, std::int64_t n, Stream& stream) {
  const T* first = static_cast<const T*>(x);
  thrust::transform(thrust::cuda::par_nosync.on(cuda::native(stream)), first, first + n,
                    static_cast<const T*>(dy), static_cast<T*>(dx), Apply<function, T>());
}

template <class T>
void backward(Activation function, const void* x, const void* dy, void* dx, std::int64_t n,
              Stream& stream) {
  switch (function) {
  case Activation::relu: return transform<Activation::relu, T>(x, dy, dx, n, stream);
  case Activation::sigmoid: return transform<Activation::sigmoid, T>(x, dy, dx, n, stream);
  case Activation::tanh: return transform<Activation::tanh, T>(x, dy, dx, n, stream);
  case Activation::gelu: return transform<Activation::gelu, T>(x, dy, dx, n, stream);
  case Activation::gelu_tanh: return transform<Activation::gelu_tanh, T>(x, dy, dx, n, stream);
  case Activation::silu: return transform<Activation::silu, T>(x, dy, dx, n, stream);
  }
}

bool backward_supported(Activation, Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16;
}

void backward(Activation function, Dtype dtype, const void* x, const void*, const void* dy,
              void* dx, std::int64_t n, Stream& stream) {
  translate("transform", [&] {
    if (dtype == Dtype::f32) backward<float>(function, x, dy, dx, n, stream);
    if (dtype == Dtype::f16) backward<__half>(function, x, dy, dx, n, stream);
    if (dtype == Dtype::bf16) backward<__nv_bfloat16>(function, x, dy, dx, n, stream);
  });
}

} // namespace
} // namespace thrust_cuda

namespace {

constexpr ActivationBackwardVariant kTable[] = {
    {"thrust", thrust_cuda::backward_supported, thrust_cuda::backward},
    {"cudnn", cudnn::backward_supported, cudnn::backward},
};

} // namespace

std::span<const ActivationBackwardVariant> activation_backward_table() { return kTable; }

} // namespace kg::vendor
