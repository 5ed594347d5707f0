// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "conv2d_backward/conv2d_backward.h"
#include "vendor/library.h"
#include "vendor/variants.h"

namespace kg::vendor {

// Tensors as in conv2d_backward::Problem; sums are f32.
struct Conv2dBackward {
  conv2d_backward::Gradient gradient;
  Dtype dtype; // of all tensors
  conv2d::Geometry geometry;
  const void* dy;
  const void* x;       // read for the weights' gradient
  const void* weights; // read for the input's gradient
  void* result;
};
// A batch of 0 writes nothing.
void conv2d_backward(std::string_view variant, const Conv2dBackward& problem, Math math,
                     Stream& stream);

using Conv2dBackwardVariant =
    VariantOf<conv2d_backward, conv2d_backward::Gradient, Dtype, const conv2d::Geometry&>;
extern const Table<Conv2dBackwardVariant> conv2d_backward_table;

} // namespace kg::vendor
