// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/activation_backward.h"

#include "libraries/cuda/cudnn_activation.h"
#include "libraries/cuda/thrust.h"
#include "libraries/cuda/thrust_activation.h"

#include <thrust/transform.h>

namespace kg::vendor {
namespace cudnn {
namespace {

// cudnnActivationBackward: all functions but the two gelus. It takes both x and y.
bool backward_supported(activation::Function function, Dtype dtype) {
  return mode_of(function).has_value() && type_of(dtype).has_value();
}

void backward(activation::Function function, Dtype dtype, const void* x, const void* y,
              const void* dy, void* dx, std::int64_t n, Stream& stream) {
  const ActivationDescriptor descriptor(function);
  const Tensor each(type_of(dtype).value(), 1, n);
  KG_CHECK(cudnnActivationBackward(handle_on(stream), descriptor.get(), &kOne, each.get(), y,
                                   each.get(), dy, each.get(), x, &kZero, each.get(), dx));
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

bool backward_supported(activation::Function, Dtype dtype) { return is_float(dtype); }

void backward(activation::Function function, Dtype dtype, const void* x, const void*,
              const void* dy, void* dx, std::int64_t n, Stream& stream) {
  const auto transform = [&](auto constant, auto element) {
    using T = decltype(element);
    const T* first = static_cast<const T*>(x);
    thrust::transform(on(stream), first, first + n, static_cast<const T*>(dy), static_cast<T*>(dx),
                      of_copies(Apply<decltype(constant)::value, T>()));
  };
  translate("transform", [&] {
    with_float(dtype, [&](auto element) {
      with_function(function, [&](auto constant) { transform(constant, element); });
    });
  });
}

} // namespace
} // namespace thrust_cuda

const Table<ActivationBackwardVariant> activation_backward_table = {
    {"thrust", thrust_cuda::backward_supported, thrust_cuda::backward},
    {"cudnn", cudnn::backward_supported, cudnn::backward},
};

} // namespace kg::vendor
