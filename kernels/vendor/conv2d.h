// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "conv2d/geometry.h"
#include "runtime/dtype.h"
#include "runtime/stream.h"
#include "vendor/library.h"

#include <span>
#include <string_view>
#include <vector>

namespace kg::vendor {

struct Conv2d {
  Dtype dtype; // of all tensors; sums are f32
  conv2d::Geometry geometry;
  const void* x;
  const void* weights;
  const void* bias; // null: none
  void* y;
};
std::vector<std::string_view> conv2d_variants(Dtype dtype, const conv2d::Geometry& geometry);
void conv2d(std::string_view variant, const Conv2d& problem, Math math, Stream& stream);

// What a backend brings (host/, cuda/): see vendor/dispatch.h.
struct Conv2dVariant {
  std::string_view name;
  bool (*supports)(Dtype dtype, const conv2d::Geometry& geometry);
  void (*run)(const Conv2d& problem, Math math, Stream& stream);
};
std::span<const Conv2dVariant> conv2d_table();

} // namespace kg::vendor
