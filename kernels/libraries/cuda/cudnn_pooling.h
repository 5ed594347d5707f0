// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A pooling problem as cuDNN's descriptors, for both directions.
#pragma once

#include "libraries/cuda/cudnn.h"
#include "ops/pooling/problem.h"

#include <limits>

namespace kg::vendor::cudnn {

// cuDNN pads both sides equally, has neither dilation nor ceil mode, counts elements in int, and
// refuses paddings as large as the kernel. If it has as many windows as the problem, its windows
// are the same: padding after the input, declared or not, holds no elements. The average with
// padding divides by the whole area, so its windows must fit.
inline bool pooling_agrees(pooling::Kind kind, const pooling::Problem& p) {
  const auto agrees = [&](std::int64_t in, const pooling::Axis& axis) {
    pooling::Axis alike = axis;
    alike.pad_after = axis.pad_before;
    return axis.dilation == 1 && pooling::windows_have_input(in, axis, p.ceil_mode) &&
           pooling::window_count(in, alike, false) ==
               pooling::window_count(in, axis, p.ceil_mode) &&
           (kind != pooling::Kind::average_include_padding ||
            pooling::windows_fit(in, axis, p.ceil_mode));
  };
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  return p.inputs() <= kMost && p.outputs() <= kMost && agrees(p.height, p.vertical) &&
         agrees(p.width, p.horizontal);
}

// The settings: NaN propagates, and each maximum passes its gradient to one element.
class PoolingDescription : public Owned<cudnnPoolingDescriptor_t, cudnnCreatePoolingDescriptor,
                                        cudnnDestroyPoolingDescriptor> {
 public:
  PoolingDescription(pooling::Kind kind, Dtype dtype, const pooling::Problem& p)
      : x(type_of(dtype).value(), {p.batch, p.channels, p.height, p.width}, format_of(p.layout)),
        y(type_of(dtype).value(), {p.batch, p.channels, p.out_height(), p.out_width()},
          format_of(p.layout)) {
    const auto number = [](std::int64_t value) { return static_cast<int>(value); };
    KG_CHECK(cudnnSetPooling2dDescriptor(
        get(), mode_of(kind), CUDNN_PROPAGATE_NAN, number(p.vertical.kernel),
        number(p.horizontal.kernel), number(p.vertical.pad_before), number(p.horizontal.pad_before),
        number(p.vertical.stride), number(p.horizontal.stride)));
  }

  const Tensor x, y;

 private:
  static cudnnPoolingMode_t mode_of(pooling::Kind kind) {
    switch (kind) {
    case pooling::Kind::max: return CUDNN_POOLING_MAX_DETERMINISTIC;
    case pooling::Kind::average_include_padding: return CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING;
    case pooling::Kind::average_exclude_padding: return CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING;
    }
    return CUDNN_POOLING_MAX_DETERMINISTIC;
  }
};

} // namespace kg::vendor::cudnn
