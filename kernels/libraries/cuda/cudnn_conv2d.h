// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The descriptors of conv2d and conv2d_backward.
#pragma once

#include "libraries/cuda/cudnn.h"
#include "libraries/cuda/time_of.h"
#include "libraries/library.h"
#include "libraries/proposals.h"
#include "ops/conv2d/geometry.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kg::vendor::cudnn {

inline int narrow(std::int64_t value) { return static_cast<int>(value); }

class FilterDescriptor : public Owned<cudnnFilterDescriptor_t, cudnnCreateFilterDescriptor,
                                      cudnnDestroyFilterDescriptor> {
 public:
  FilterDescriptor(cudnnDataType_t type, const conv2d::Geometry& g) {
    KG_CHECK(cudnnSetFilter4dDescriptor(get(), type, format_of(g.layout), narrow(g.out_channels),
                                        narrow(g.group_inputs()), narrow(g.vertical.kernel),
                                        narrow(g.horizontal.kernel)));
  }
};

// f32 without TF32. 16-bit types use tensor cores, which also accumulate in f32.
class ConvolutionDescriptor
    : public Owned<cudnnConvolutionDescriptor_t, cudnnCreateConvolutionDescriptor,
                   cudnnDestroyConvolutionDescriptor> {
 public:
  ConvolutionDescriptor(cudnnDataType_t type, const conv2d::Geometry& g) {
    const conv2d::Axis& v = g.vertical;
    const conv2d::Axis& h = g.horizontal;
    KG_CHECK(cudnnSetConvolution2dDescriptor(
        get(), narrow(v.pad_before), narrow(h.pad_before), narrow(v.stride), narrow(h.stride),
        narrow(v.dilation), narrow(h.dilation), CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    KG_CHECK(cudnnSetConvolutionGroupCount(get(), narrow(g.groups)));
    KG_CHECK(cudnnSetConvolutionMathType(get(), type == CUDNN_DATA_FLOAT ? CUDNN_FMA_MATH
                                                                         : CUDNN_TENSOR_OP_MATH));
  }
};

// A problem as cuDNN's descriptors.
struct ConvolutionDescription {
  ConvolutionDescription(Dtype dtype, const conv2d::Geometry& g)
      : x(type_of(dtype).value(), {g.batch, g.in_channels, g.height, g.width}, format_of(g.layout)),
        y(type_of(dtype).value(), {g.batch, g.out_channels, g.out_height(), g.out_width()},
          format_of(g.layout)),
        bias(type_of(dtype).value(), {1, g.out_channels, 1, 1}, format_of(g.layout)),
        weights(type_of(dtype).value(), g), windows(type_of(dtype).value(), g) {}

  const Tensor x, y, bias;
  const FilterDescriptor weights;
  const ConvolutionDescriptor windows;
};

// cuDNN pads both sides equally and counts elements in int. If it has as many windows as the
// problem, its windows are the same: padding after the input holds no elements.
inline bool convolution_supported(Dtype dtype, const conv2d::Geometry& g) {
  const auto agrees = [](std::int64_t in, const conv2d::Axis& axis) {
    conv2d::Axis alike = axis;
    alike.pad_after = axis.pad_before;
    return window::window_count(in, alike) == window::window_count(in, axis);
  };
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  return type_of(dtype).has_value() && g.inputs() <= kMost && g.outputs() <= kMost &&
         g.weights() <= kMost && agrees(g.height, g.vertical) && agrees(g.width, g.horizontal);
}

// The heuristic's math type may be TF32, so f32 keeps the descriptor's math type.
template <class Ranked>
void use_math_of(const Ranked& one, Dtype dtype, const ConvolutionDescriptor& windows) {
  if (dtype != Dtype::f32) KG_CHECK(cudnnSetConvolutionMathType(windows.get(), one.mathType));
}

// Selects the ranked algorithms that need at most 1 GiB of workspace and, for `pedantic`, add
// products in a fixed order. need(one, &bytes) queries the workspace, which can be larger than the
// heuristic says (cuDNN 9.19).
template <class Ranked, class Need>
Proposals<Ranked> usable(const std::string& what, const Ranked* ranked, int count, Math math,
                         bool (*sums_products)(decltype(Ranked::algo)), const Need& need) {
  constexpr std::size_t kMostWorkspace = std::size_t{1} << 30;
  std::vector<Ranked> chosen;
  std::string refusal = "cuDNN, " + what + ": it has no " +
                        (math == Math::pedantic ? "deterministic inner product" : "algorithm");
  for (Ranked one : std::span(ranked, static_cast<std::size_t>(count))) {
    if (one.status == CUDNN_STATUS_SUCCESS) one.status = need(one, &one.memory);
    const bool fits = math == Math::fastest ||
                      (sums_products(one.algo) && one.determinism == CUDNN_DETERMINISTIC);
    if (one.status == CUDNN_STATUS_SUCCESS && one.memory <= kMostWorkspace && fits)
      chosen.push_back(one);
    else if (fits)
      refusal += "; algorithm " + std::to_string(static_cast<int>(one.algo)) + " of " +
                 std::to_string(one.memory) + " bytes: " + describe(one.status).text;
  }
  return {std::move(chosen), std::move(refusal)};
}

// Runs the fastest of the first few, which the first call times; `pedantic` runs the first.
template <class Ranked, class Call>
void run_proposals(Proposals<Ranked>& proposals, Math math, Stream& stream, Call call) {
  if (math == Math::fastest)
    proposals.run_fastest(call, TimeOn(stream));
  else
    proposals.run(call);
}

} // namespace kg::vendor::cudnn
