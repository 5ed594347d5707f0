// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// conv2d_backward, variant direct: one thread per element of the gradient.
//
// Bytes: two elements per multiply-add, from the caches at best; flops: two per product. direct is
// the baseline for the other variants. The input's gradient has one thread per element of x, and
// the speed of conv2d's direct. The gradients of weights and bias have few threads, each with a sum
// over all images. Expected on an H200: below 10 % of the f32 peak for the input, below 1 % for the
// weights, and below 1 % of memory bandwidth for the bias.
#include "ops/conv2d_backward/filter.h"
#include "ops/conv2d_backward/variants.h"

#include "runtime/launch.h"
#include "runtime/preconditions.h"

namespace kg::conv2d_backward {

using conv2d::Strides;

inline constexpr int kDirectThreads = 256;

// Launch parameters of the kernels in this file.
struct Direct {
  window::Line vertical, horizontal;
  Strides x, y;
  Filter filter;
  int batch, in_channels, group_outputs;
  unsigned inner; // contiguous channels of x: 1 in nchw
};

template <class T>
__global__ void __launch_bounds__(kDirectThreads)
    direct_input(const T* dy, const T* weights, T* dx, Direct d, unsigned inputs) {
  const unsigned index = blockIdx.x * kDirectThreads + threadIdx.x;
  if (index >= inputs) return;
  const window::Place at = window::place_of(index, d.inner, 1, d.horizontal.in, d.vertical.in);
  const std::int64_t plane = at.outer * d.inner + at.inner; // image * in_channels + channel
  const auto channel = static_cast<int>(plane % d.in_channels);
  const int first_output = channel / d.filter.channels * d.group_outputs;
  const window::Windows down = window::windows_over(d.vertical, at.row);
  const window::Windows across = window::windows_over(d.horizontal, at.column);
  const T* from = dy + (plane / d.in_channels * d.y.outer + first_output * d.y.channel);
  const std::int64_t next_filter = d.filter.elements();
  const T* filters =
      weights + (first_output * next_filter + channel % d.filter.channels * d.filter.channel_step);
  float sum = 0;
  for (int i = down.first; i < down.end; ++i) {
    const int tap_down = window::tap_at(d.vertical, i, at.row);
    if (tap_down < 0) continue;
    for (int j = across.first; j < across.end; ++j) {
      const int tap_across = window::tap_at(d.horizontal, j, at.column);
      if (tap_across < 0) continue;
      const T* element = from + (i * d.y.row + j * d.y.column);
      const T* weight =
          filters + (tap_down * d.filter.row_step + tap_across * d.filter.column_step);
      for (int o = 0; o < d.group_outputs; ++o) {
        sum = fmaf(to_float(*element), to_float(*weight), sum);
        element += d.y.channel;
        weight += next_filter;
      }
    }
  }
  dx[index] = from_float<T>(sum);
}

// The windows of an axis whose tap is inside x: `count` windows starting at `first`; `at` is the
// tap's coordinate in the first one.
struct Inside {
  int first, count, at;
};

__device__ __forceinline__ Inside inside(const window::Line& line, int tap) {
  const int start = tap * line.dilation - line.before; // in window 0
  const int first = start < 0 ? (line.stride - 1 - start) / line.stride : 0;
  const int end = start < line.in ? (line.in - 1 - start) / line.stride + 1 : 0;
  return {first, (end < line.out ? end : line.out) - first, start + first * line.stride};
}

template <class T>
__global__ void __launch_bounds__(kDirectThreads)
    direct_weights(const T* dy, const T* x, T* dw, Direct d, unsigned weights) {
  const unsigned index = blockIdx.x * kDirectThreads + threadIdx.x;
  if (index >= weights) return;
  const auto filter = static_cast<unsigned>(d.filter.elements());
  const auto output = static_cast<int>(index / filter);
  const Weight weight = weight_at(static_cast<int>(index % filter), d.filter);
  const int channel = output / d.group_outputs * d.filter.channels + weight.channel;
  const Inside down = inside(d.vertical, weight.row);
  const Inside across = inside(d.horizontal, weight.column);
  const T* const gradients =
      dy + (output * d.y.channel + down.first * d.y.row + across.first * d.y.column);
  const T* const values = x + (channel * d.x.channel + down.at * d.x.row + across.at * d.x.column);
  float sum = 0;
  for (int image = 0; image < d.batch; ++image)
    for (int i = 0; i < down.count; ++i) {
      const T* gradient = gradients + (image * d.y.outer + i * d.y.row);
      const T* value = values + (image * d.x.outer + i * (d.vertical.stride * d.x.row));
      for (int j = 0; j < across.count; ++j) {
        sum = fmaf(to_float(*gradient), to_float(*value), sum);
        gradient += d.y.column;
        value += d.horizontal.stride * d.x.column;
      }
    }
  dw[index] = from_float<T>(sum);
}

template <class T>
__global__ void __launch_bounds__(kDirectThreads)
    direct_bias(const T* dy, T* db, Direct d, unsigned channels) {
  const unsigned channel = blockIdx.x * kDirectThreads + threadIdx.x;
  if (channel >= channels) return;
  float sum = 0;
  for (int image = 0; image < d.batch; ++image) {
    const T* gradients = dy + (image * d.y.outer + channel * d.y.channel);
    for (int i = 0; i < d.vertical.out; ++i)
      for (int j = 0; j < d.horizontal.out; ++j)
        sum += to_float(gradients[i * d.y.row + j * d.y.column]);
  }
  db[channel] = from_float<T>(sum);
}

template <class T>
void run_direct(Gradient gradient, const Problem<T>& p, Stream& stream) {
  const Geometry& g = p.geometry;
  Direct d;
  d.vertical = conv2d::vertical_line(g);
  d.horizontal = conv2d::horizontal_line(g);
  d.x = conv2d::strides_of_x(g);
  d.y = strides_of_y(g);
  d.filter = filter_of(g);
  d.batch = static_cast<int>(g.batch);
  d.in_channels = static_cast<int>(g.in_channels);
  d.group_outputs = static_cast<int>(g.group_outputs());
  d.inner = g.layout == Layout::nhwc ? static_cast<unsigned>(g.in_channels) : 1;
  const unsigned threads =
      window::count_threads("conv2d_backward: variant direct", elements(gradient, g));
  const LaunchConfig config{.grid = grid_x(div_up(threads, kDirectThreads),
                                           "conv2d_backward: the gradient", "split the batch"),
                            .block = kDirectThreads,
                            .stream = &stream};
  switch (gradient) {
  case Gradient::input:
    return launch(direct_input<T>, config, p.dy, p.weights, p.gradient, d, threads);
  case Gradient::weights:
    return launch(direct_weights<T>, config, p.dy, p.x, p.gradient, d, threads);
  case Gradient::bias: return launch(direct_bias<T>, config, p.dy, p.gradient, d, threads);
  }
}

template void run_direct(Gradient, const Problem<float>&, Stream&);
template void run_direct(Gradient, const Problem<f16>&, Stream&);
template void run_direct(Gradient, const Problem<bf16>&, Stream&);

} // namespace kg::conv2d_backward
