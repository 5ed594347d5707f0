// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/gated_activation_backward.h"

#include "libraries/cuda/thrust.h"
#include "libraries/cuda/thrust_activation.h"

#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>

namespace kg::vendor {
namespace thrust_cuda {
namespace {

// As a user of Thrust would write it, for element i of dy.
template <activation::Function function, class T>
struct Differentiate {
  const T* x;
  const T* dy;
  T* dx;
  std::int64_t cols;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t place = i + i / cols * cols;
    const float gate = widen(x[place]);
    const float value = widen(x[place + cols]);
    const float gradient = widen(dy[i]);
    dx[place] = narrow<T>(gradient * value * slope<function>(gate));
    dx[place + cols] = narrow<T>(gradient * activated<function>(gate));
  }
};

template <activation::Function function, class T>
void for_each(const void* x, const void* dy, void* dx, std::int64_t rows, std::int64_t cols,
              Stream& stream) {
  const thrust::counting_iterator<std::int64_t> first(0);
  thrust::for_each(on(stream), first, first + rows * cols,
                   Differentiate<function, T>{static_cast<const T*>(x), static_cast<const T*>(dy),
                                              static_cast<T*>(dx), cols});
}

template <class T>
void backward(activation::Function function, const void* x, const void* dy, void* dx,
              std::int64_t rows, std::int64_t cols, Stream& stream) {
  if (function == activation::Function::relu)
    for_each<activation::Function::relu, T>(x, dy, dx, rows, cols, stream);
  if (function == activation::Function::gelu)
    for_each<activation::Function::gelu, T>(x, dy, dx, rows, cols, stream);
  if (function == activation::Function::silu)
    for_each<activation::Function::silu, T>(x, dy, dx, rows, cols, stream);
}

bool backward_supported(activation::Function function, Dtype dtype) {
  return (function == activation::Function::relu || function == activation::Function::gelu ||
          function == activation::Function::silu) &&
         is_float(dtype);
}

void backward(activation::Function function, Dtype dtype, const void* x, const void* dy, void* dx,
              std::int64_t rows, std::int64_t cols, Stream& stream) {
  translate("for_each", [&] {
    with_float(dtype, [&](auto element) {
      backward<decltype(element)>(function, x, dy, dx, rows, cols, stream);
    });
  });
}

} // namespace
} // namespace thrust_cuda

const Table<GatedActivationBackwardVariant> gated_activation_backward_table = {
    {"thrust", thrust_cuda::backward_supported, thrust_cuda::backward}};

} // namespace kg::vendor
