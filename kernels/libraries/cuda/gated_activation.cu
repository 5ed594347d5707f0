// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/gated_activation.h"

#include "libraries/cuda/thrust.h"
#include "libraries/cuda/thrust_activation.h"

#include <thrust/iterator/counting_iterator.h>
#include <thrust/transform.h>

namespace kg::vendor {
namespace thrust_cuda {
namespace {

// As a user of Thrust would write it.
template <activation::Function function, class T>
struct Gated {
  const T* x;
  std::int64_t cols;
  __device__ T operator()(std::int64_t i) const {
    const T* const place = x + i + i / cols * cols;
    return narrow<T>(activated<function>(widen(place[0])) * widen(place[cols]));
  }
};

template <activation::Function function, class T>
void transform(const void* x, void* y, std::int64_t rows, std::int64_t cols, Stream& stream) {
  const thrust::counting_iterator<std::int64_t> first(0);
  thrust::transform(on(stream), first, first + rows * cols, static_cast<T*>(y),
                    Gated<function, T>{static_cast<const T*>(x), cols});
}

template <class T>
void gated_activation(activation::Function function, const void* x, void* y, std::int64_t rows,
                      std::int64_t cols, Stream& stream) {
  if (function == activation::Function::relu)
    transform<activation::Function::relu, T>(x, y, rows, cols, stream);
  if (function == activation::Function::gelu)
    transform<activation::Function::gelu, T>(x, y, rows, cols, stream);
  if (function == activation::Function::silu)
    transform<activation::Function::silu, T>(x, y, rows, cols, stream);
}

bool gated_activation_supported(activation::Function function, Dtype dtype) {
  return (function == activation::Function::relu || function == activation::Function::gelu ||
          function == activation::Function::silu) &&
         is_float(dtype);
}

void gated_activation(activation::Function function, Dtype dtype, const void* x, void* y,
                      std::int64_t rows, std::int64_t cols, Stream& stream) {
  translate("transform", [&] {
    with_float(dtype, [&](auto element) {
      gated_activation<decltype(element)>(function, x, y, rows, cols, stream);
    });
  });
}

} // namespace
} // namespace thrust_cuda

const Table<GatedActivationVariant> gated_activation_table = {
    {"thrust", thrust_cuda::gated_activation_supported, thrust_cuda::gated_activation}};

} // namespace kg::vendor
