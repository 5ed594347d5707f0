// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A pooling problem as described to oneDNN, for the primitives of both directions.
#pragma once

#include "libraries/host/onednn.h"
#include "ops/pooling/problem.h"

#include <algorithm>

namespace kg::vendor::onednn {

// oneDNN's dilation counts the elements between taps. `after` also stands for ceil mode.
struct PoolingDescription {
  dnnl::algorithm algorithm;
  dnnl::memory::desc x, y;
  dnnl::memory::dims strides, kernel, dilation, before, after;
};

inline dnnl::memory::desc image_of(dnnl::memory::data_type type, const pooling::Problem& p,
                                   std::int64_t height, std::int64_t width) {
  const bool last = p.layout == pooling::Layout::nhwc;
  return {{p.batch, p.channels, height, width},
          type,
          last ? dnnl::memory::format_tag::nhwc : dnnl::memory::format_tag::nchw};
}

inline dnnl::algorithm algorithm_of(pooling::Kind kind) {
  switch (kind) {
  case pooling::Kind::max: return dnnl::algorithm::pooling_max;
  case pooling::Kind::average_include_padding: return dnnl::algorithm::pooling_avg_include_padding;
  case pooling::Kind::average_exclude_padding: return dnnl::algorithm::pooling_avg_exclude_padding;
  }
  return dnnl::algorithm::undef;
}

inline PoolingDescription describe_pooling(pooling::Kind kind, dnnl::memory::data_type type,
                                           const pooling::Problem& p) {
  const pooling::Axis& v = p.vertical;
  const pooling::Axis& h = p.horizontal;
  const auto after = [](const pooling::Axis& axis, std::int64_t in, std::int64_t out) {
    const std::int64_t covered = (out - 1) * axis.stride + axis.extent();
    return std::max(axis.pad_after, covered - in - axis.pad_before);
  };
  return {algorithm_of(kind),
          image_of(type, p, p.height, p.width),
          image_of(type, p, p.out_height(), p.out_width()),
          {v.stride, h.stride},
          {v.kernel, h.kernel},
          {v.dilation - 1, h.dilation - 1},
          {v.pad_before, h.pad_before},
          {after(v, p.height, p.out_height()), after(h, p.width, p.out_width())}};
}

// Whether oneDNN computes the same. If padding counts, it divides by the kernel's whole area. Its
// results for windows without input differ from ours.
inline bool pooling_agrees(pooling::Kind kind, const pooling::Problem& p) {
  const auto agrees = [&](std::int64_t in, const pooling::Axis& axis) {
    return pooling::windows_have_input(in, axis, p.ceil_mode) &&
           (kind != pooling::Kind::average_include_padding ||
            pooling::windows_fit(in, axis, p.ceil_mode));
  };
  return agrees(p.height, p.vertical) && agrees(p.width, p.horizontal);
}

#if DNNL_VERSION_MAJOR >= 3
using PoolingForward = dnnl::pooling_forward;
#else
using PoolingForward = dnnl::pooling_v2_forward;
#endif

inline PoolingForward::primitive_desc pooling_forward(const PoolingDescription& d,
                                                      dnnl::prop_kind kind) {
  return describe<PoolingForward>(kind, d.algorithm, d.x, d.y, d.strides, d.kernel, d.dilation,
                                  d.before, d.after);
}

} // namespace kg::vendor::onednn
