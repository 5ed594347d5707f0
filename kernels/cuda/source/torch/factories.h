// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions that create tensors.
#pragma once

#include "cuda/source/torch/tensor.h"

#include <random>

namespace at {

inline Tensor empty(IntArrayRef sizes, TensorOptions options = {}) { return {sizes, options}; }
inline Tensor full(IntArrayRef sizes, double value, TensorOptions options = {}) {
  Tensor result(sizes, options);
  result.fill_(value);
  return result;
}
inline Tensor zeros(IntArrayRef sizes, TensorOptions options = {}) {
  return full(sizes, 0, options);
}
inline Tensor ones(IntArrayRef sizes, TensorOptions options = {}) {
  return full(sizes, 1, options);
}
inline Tensor empty_like(const Tensor& like) { return empty(like.sizes(), like.options()); }
inline Tensor empty_like(const Tensor& like, TensorOptions options) {
  return empty(like.sizes(), options);
}
inline Tensor full_like(const Tensor& like, double value) {
  return full(like.sizes(), value, like.options());
}
inline Tensor zeros_like(const Tensor& like) { return full_like(like, 0); }
inline Tensor zeros_like(const Tensor& like, TensorOptions options) {
  return zeros(like.sizes(), options);
}
inline Tensor ones_like(const Tensor& like) { return full_like(like, 1); }

// A one-dimensional copy of these values.
template <class T>
Tensor tensor(const std::vector<T>& values, TensorOptions options = kg::torch::type_of<T>()) {
  const std::int64_t count = static_cast<std::int64_t>(values.size());
  Tensor result({count}, TensorOptions(kg::torch::type_of<T>()));
  std::copy(values.begin(), values.end(), result.data_ptr<T>());
  return result.to(options);
}
template <class T>
Tensor tensor(std::initializer_list<T> values, TensorOptions options = kg::torch::type_of<T>()) {
  return tensor(std::vector<T>(values), options);
}
inline Tensor arange(std::int64_t count, TensorOptions options = kLong) {
  std::vector<std::int64_t> values(count);
  for (std::int64_t i = 0; i < count; ++i) values[i] = i;
  return tensor(values).to(options);
}

} // namespace at

namespace kg::torch {

inline std::mt19937& generator() {
  static std::mt19937 one(0);
  return one;
}
template <class Distribution>
at::Tensor random(at::IntArrayRef sizes, at::TensorOptions options, Distribution distribution) {
  at::Tensor result(sizes, c10::kFloat);
  float* const values = result.data_ptr<float>();
  for (std::int64_t i = 0; i < result.numel(); ++i) values[i] = distribution(generator());
  return result.to(options);
}

} // namespace kg::torch

// The numbers are the same in each run, but differ from PyTorch's.
namespace at {

inline void manual_seed(std::uint64_t seed) {
  kg::torch::generator().seed(static_cast<std::mt19937::result_type>(seed));
}
inline Tensor rand(IntArrayRef sizes, TensorOptions options = {}) {
  return kg::torch::random(sizes, options, std::uniform_real_distribution<float>());
}
inline Tensor randn(IntArrayRef sizes, TensorOptions options = {}) {
  return kg::torch::random(sizes, options, std::normal_distribution<float>());
}

// Whether |a - b| <= absolute + relative |b| for all elements, as in PyTorch. A NaN is never
// close.
inline bool allclose(const Tensor& a, const Tensor& b, double relative = 1e-5,
                     double absolute = 1e-8) {
  TORCH_CHECK(a.sizes() == b.sizes(), "allclose of ", a.sizes(), " and ", b.sizes());
  const Tensor left = a.to(Device(kCPU), kDouble).contiguous();
  const Tensor right = b.to(Device(kCPU), kDouble).contiguous();
  const double *x = left.data_ptr<double>(), *y = right.data_ptr<double>();
  for (std::int64_t i = 0; i < left.numel(); ++i)
    if (!(x[i] == y[i] || std::abs(x[i] - y[i]) <= absolute + relative * std::abs(y[i])))
      return false;
  return true;
}

} // namespace at
