// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "conv2d/geometry.h"
#include "vendor/library.h"
#include "vendor/variants.h"

namespace kg::vendor {

struct Conv2d {
  Dtype dtype; // of all tensors; sums are f32
  conv2d::Geometry geometry;
  const void* x;
  const void* weights;
  const void* bias; // null: none
  void* y;
};
void conv2d(std::string_view variant, const Conv2d& problem, Math math, Stream& stream);

using Conv2dVariant = VariantOf<conv2d, Dtype, const conv2d::Geometry&>;
extern const Table<Conv2dVariant> conv2d_table;

} // namespace kg::vendor
