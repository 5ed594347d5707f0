// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The variants of conv2d_backward as conv2d_backward.cu calls them. Preconditions: the problem is
// valid, and a required workspace exists. T: float, f16, bf16.
#pragma once

#include "ops/conv2d/variants.h"
#include "ops/conv2d_backward/conv2d_backward.h"

#include <cstddef>
#include <cstdint>

namespace kg::conv2d_backward {

// Accepts any batch.
template <class T>
void run_direct(Gradient gradient, const Problem<T>& problem, Stream& stream);

// The others require a batch of at least 1.

// forward: the variant of conv2d.
template <class T>
void run_input(const Problem<T>& problem, conv2d::Variant forward, Stream& stream);
void run_weights(const Problem<float>& problem, Stream& stream);
template <class T> // f16, bf16
void run_weights_mma(const Problem<T>& problem, Stream& stream);
template <class T>
void run_bias(const Problem<T>& problem, Stream& stream);

template <class T>
bool input_supported(const Geometry& geometry, conv2d::Variant forward);
template <class T>
std::size_t input_workspace_bytes(const Geometry& geometry);
std::size_t weights_workspace_bytes(const Geometry& geometry);
std::size_t weights_mma_workspace_bytes(const Geometry& geometry);
template <class T>
std::size_t bias_workspace_bytes(const Geometry& geometry);

constexpr conv2d::Strides strides_of_y(const Geometry& g) {
  return conv2d::strides(g.layout, g.out_channels, g.out_height(), g.out_width());
}

} // namespace kg::conv2d_backward
