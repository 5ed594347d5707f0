// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// conv2d, variant direct: one thread per output sums the products of its window.
//
// Bytes: two elements per multiply-add, from the caches at best; flops: two per product. direct is
// the baseline for the other variants, and the better choice for groups with few outputs, for which
// the other variants' tiles would be mostly padding. Neighbouring threads write neighbouring
// elements of y. In nchw they read neighbouring columns of x and the same weight. In nhwc they read
// the same element of x (neighbouring elements if groups have one channel) and distant weights.
// Expected on an H200: below 10 % of the f32 peak.
#include "ops/conv2d/variants.h"

#include "runtime/launch.h"
#include "runtime/preconditions.h"

namespace kg::conv2d {

inline constexpr int kDirectThreads = 256;

// y is outer x height x width x inner, as in window::Place.
struct Direct {
  window::Line vertical, horizontal;
  Strides x, weights;
  unsigned inner; // contiguous output channels: 1 in nchw
  int out_channels, group_inputs, group_outputs;
};

template <class T>
__global__ void __launch_bounds__(kDirectThreads)
    direct(const T* x, const T* weights, const T* bias, T* y, Direct d, unsigned outputs) {
  const unsigned index = blockIdx.x * kDirectThreads + threadIdx.x;
  if (index >= outputs) return;
  const window::Place at = window::place_of(index, d.inner, 1, d.horizontal.out, d.vertical.out);
  const std::int64_t plane = at.outer * d.inner + at.inner; // image * out_channels + channel
  const auto channel = static_cast<int>(plane % d.out_channels);
  const int first_input = channel / d.group_outputs * d.group_inputs;
  const window::Taps down = window::taps_of(d.vertical, at.row);
  const window::Taps across = window::taps_of(d.horizontal, at.column);
  const T* from = x + (plane / d.out_channels * d.x.outer + first_input * d.x.channel);
  const T* filter = weights + channel * d.weights.outer;
  float sum = 0;
  for (int i = down.first; i < down.end; ++i) {
    const T* row = from + (down.start + i * d.vertical.dilation) * d.vertical.x_step;
    for (int j = across.first; j < across.end; ++j) {
      const T* element = row + (across.start + j * d.horizontal.dilation) * d.horizontal.x_step;
      const T* weight = filter + (i * d.weights.row + j * d.weights.column);
      for (int c = 0; c < d.group_inputs; ++c) {
        const float factor = to_float(weight[c * d.weights.channel]);
        sum = fmaf(to_float(element[c * d.x.channel]), factor, sum);
      }
    }
  }
  y[index] = from_float<T>(bias == nullptr ? sum : sum + to_float(bias[channel]));
}

template <class T>
void run_direct(const Problem<T>& problem, Stream& stream) {
  const Geometry& g = problem.geometry;
  const bool last = g.layout == Layout::nhwc;
  Direct d;
  d.vertical = vertical_line(g);
  d.horizontal = horizontal_line(g);
  d.x = strides_of_x(g);
  d.weights = strides_of_weights(g);
  d.inner = last ? static_cast<unsigned>(g.out_channels) : 1;
  d.out_channels = static_cast<int>(g.out_channels);
  d.group_inputs = static_cast<int>(g.group_inputs());
  d.group_outputs = static_cast<int>(g.group_outputs());
  const unsigned outputs = window::count_threads("conv2d: variant direct", g.outputs());
  launch(direct<T>,
         {.grid = grid_x(div_up(outputs, kDirectThreads), "conv2d: the outputs", "split the batch"),
          .block = kDirectThreads,
          .stream = &stream},
         problem.x, problem.weights, problem.bias, problem.y, d, outputs);
}

template void run_direct(const Problem<float>&, Stream&);
template void run_direct(const Problem<f16>&, Stream&);
template void run_direct(const Problem<bf16>&, Stream&);

} // namespace kg::conv2d
