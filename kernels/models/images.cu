// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Image layers with weights per input channel: convolutions, and the linear layers after them.
#include "models/images.h"

#include "models/element.h"
#include "models/layers.h"
#include "ops/conv2d/conv2d.h"
#include "ops/conv2d_backward/conv2d_backward.h"

#include <cmath>

namespace kg::models {
namespace {

using conv2d_backward::Gradient;

constexpr double kBiasSpread = 0.1;

// A matrix with a row per output, over the channels of x with `places` positions each. `in_files`
// are its dimensions in files, without the first.
Tensor weights(Tape& tape, const std::string& name, std::int64_t outputs, const Images& x,
               std::int64_t places, std::vector<std::int64_t> in_files, double gain) {
  Parameter parameter{.value = {-1, outputs, x.channels * places, x.tensor.dtype},
                      .parts = {{name + ".weight", outputs}},
                      .inner = std::move(in_files)};
  if (x.layout == Layout::nhwc) parameter.channels_last = x.channels;
  parameter.spread = gain * std::sqrt(6 / static_cast<double>(parameter.value.cols));
  return tape.parameter(std::move(parameter));
}

Tensor bias_of(Tape& tape, const std::string& name, std::int64_t outputs, Dtype dtype) {
  return vector(tape, {{name + ".bias", outputs}}, 0, kBiasSpread, dtype);
}

conv2d::Geometry geometry_of(const Images& x, const Convolution& what) {
  const window::Axis axis{.kernel = what.window.kernel,
                          .stride = what.window.stride,
                          .pad_before = what.window.padding,
                          .pad_after = what.window.padding};
  conv2d::Geometry geometry;
  geometry.batch = x.tensor.rows;
  geometry.in_channels = x.channels;
  geometry.height = x.height;
  geometry.width = x.width;
  geometry.out_channels = what.channels;
  geometry.vertical = geometry.horizontal = axis;
  geometry.layout = x.layout;
  return geometry;
}

// Adds the gradient of `of`, which is the convolution's input, weights or bias.
template <class T>
void add_gradient_by(Tape& tape, Gradient gradient, const conv2d::Geometry& geometry, Tensor of,
                     Tensor dy, Tensor x, Tensor weights) {
  namespace op = conv2d_backward;
  const Tensor result =
      tape.temporary("conv.d" + std::string(name(gradient)), of.rows, of.cols, of.dtype);
  const Tensor workspace =
      tape.workspace(op::workspace_bytes<T>(gradient, geometry, op::Variant::automatic));
  tape.step({.op = "conv2d_backward",
             .reads = {dy, gradient == Gradient::weights ? x : Tensor{},
                       gradient == Gradient::input ? weights : Tensor{}},
             .writes = {result, workspace},
             .work = op::work(gradient, dtype_of<T>, geometry),
             .run = [=](const Run& run) {
               const op::Problem<T> problem{geometry,
                                            run.at.as<T>(dy),
                                            run.at.as<T>(x),
                                            run.at.as<T>(weights),
                                            run.at.as<T>(result),
                                            run.at.at(workspace)};
               op::run(gradient, problem, op::Variant::automatic, run.stream);
             }});
  add_gradient(tape, of, result);
}

template <class T>
Images convolution_of(Tape& tape, const std::string& name, const Images& x,
                      const Convolution& what) {
  const conv2d::Geometry geometry = geometry_of(x, what);
  const std::int64_t kernel = what.window.kernel;
  const Tensor w = weights(tape, name, what.channels, x, geometry.taps(),
                           {x.channels, kernel, kernel}, what.gain);
  const Tensor bias = what.bias ? bias_of(tape, name, what.channels, x.tensor.dtype) : Tensor{};
  const std::int64_t height = geometry.out_height(), width = geometry.out_width();
  const Tensor y =
      tape.temporary("conv", x.tensor.rows, what.channels * height * width, x.tensor.dtype);
  const Tensor workspace =
      tape.workspace(conv2d::workspace_bytes<T>(geometry, conv2d::Variant::automatic));
  tape.step({.op = "conv2d",
             .reads = {x.tensor, w, bias},
             .writes = {y, workspace},
             .work = conv2d::work(dtype_of<T>, geometry),
             .run = [=, x = x.tensor](const Run& run) {
               const conv2d::Problem<T> problem{.geometry = geometry,
                                                .x = run.at.as<T>(x),
                                                .weights = run.at.as<T>(w),
                                                .bias = run.at.as<T>(bias),
                                                .y = run.at.as<T>(y),
                                                .workspace = run.at.at(workspace)};
               conv2d::run(problem, conv2d::Variant::automatic, run.stream);
             }});
  tape.on_backward([=, x = x.tensor](Tape& tape) {
    const Tensor dy = tape.gradient(y);
    const auto by = [&](Gradient gradient, Tensor of) {
      add_gradient_by<T>(tape, gradient, geometry, of, dy, x, w);
    };
    by(Gradient::weights, w);
    if (bias.exists()) by(Gradient::bias, bias);
    if (tape.differentiable(x)) by(Gradient::input, x);
  });
  return {y, what.channels, height, width, x.layout};
}

} // namespace

Images convolution(Tape& tape, const std::string& name, const Images& x, const Convolution& what) {
  return with_element(x.tensor.dtype, [&](auto element) {
    return convolution_of<decltype(element)>(tape, name, x, what);
  });
}

Images classify(Tape& tape, const std::string& name, const Images& x, std::int64_t features) {
  const Tensor w =
      weights(tape, name, features, x, x.places(), {x.channels * x.places()}, 1 / std::sqrt(2));
  const Tensor bias = bias_of(tape, name, features, x.tensor.dtype);
  return {linear(tape, x.tensor, w, bias), features, 1, 1, x.layout};
}

} // namespace kg::models
