// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/activation.h"

#include "libraries/cuda/cudnn_activation.h"
#include "libraries/cuda/thrust.h"
#include "libraries/cuda/thrust_activation.h"

#include <thrust/transform.h>

namespace kg::vendor {
namespace cudnn {
namespace {

// cudnnActivationForward: all functions but the two gelus.
bool activation_supported(activation::Function function, Dtype dtype) {
  return mode_of(function).has_value() && type_of(dtype).has_value();
}

void activation(activation::Function function, Dtype dtype, const void* x, void* y, std::int64_t n,
                Stream& stream) {
  const ActivationDescriptor descriptor(function);
  const Tensor each(type_of(dtype).value(), 1, n);
  KG_CHECK(cudnnActivationForward(handle_on(stream), descriptor.get(), &kOne, each.get(), x, &kZero,
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

bool activation_supported(activation::Function, Dtype dtype) { return is_float(dtype); }

void activation(activation::Function function, Dtype dtype, const void* x, void* y, std::int64_t n,
                Stream& stream) {
  const auto transform = [&](auto constant, auto element) {
    using T = decltype(element);
    const T* first = static_cast<const T*>(x);
    thrust::transform(on(stream), first, first + n, static_cast<T*>(y),
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

const Table<ActivationVariant> activation_table = {
    {"thrust", thrust_cuda::activation_supported, thrust_cuda::activation},
    {"cudnn", cudnn::activation_supported, cudnn::activation},
};

} // namespace kg::vendor
