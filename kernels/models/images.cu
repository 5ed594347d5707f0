// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "models/images.h"

#include "activation/activation.h"
#include "conv2d/conv2d.h"
#include "elementwise/elementwise.h"
#include "models/layers.h"
#include "pooling/pooling.h"

#include <cmath>

namespace kg::models {
namespace {

window::Axis axis(Window window) {
  return {.kernel = window.kernel,
          .stride = window.stride,
          .pad_before = window.padding,
          .pad_after = window.padding};
}

Images images(Tape& tape, const char* name, const Images& like, std::int64_t channels,
              std::int64_t height, std::int64_t width) {
  return {tape.temporary(name, like.tensor.rows, channels * height * width), channels, height,
          width, like.layout};
}

// A matrix of a row per output, whose inputs are channels of so many places each; files give it the
// dimensions `in_files` behind the first.
Tensor weights(Tape& tape, const std::string& name, std::int64_t outputs, const Images& x,
               std::int64_t places, std::vector<std::int64_t> in_files, double gain) {
  Parameter parameter{.value = {-1, outputs, x.channels * places},
                      .parts = {{name + ".weight", outputs}},
                      .inner = std::move(in_files)};
  if (x.layout == Layout::nhwc) parameter.channels_last = x.channels;
  parameter.spread = gain * std::sqrt(6 / static_cast<double>(parameter.value.cols));
  return tape.parameter(std::move(parameter));
}

constexpr double kBiasSpread = 0.1;

Images pool(Tape& tape, const Images& x, pooling::Kind kind, Window window) {
  pooling::Problem problem;
  problem.batch = x.tensor.rows;
  problem.channels = x.channels;
  problem.height = x.height;
  problem.width = x.width;
  problem.vertical = problem.horizontal = axis(window);
  problem.layout = x.layout;
  const Images y = images(tape, "pool", x, x.channels, problem.out_height(), problem.out_width());
  tape.step({.op = "pooling",
             .reads = {x.tensor},
             .writes = {y.tensor},
             .work = pooling::work(Dtype::f32, problem),
             .run = [=](const Run& run) {
               pooling::run(kind, problem, run.at.f32(x.tensor), run.at.f32(y.tensor),
                            pooling::Variant::automatic, run.stream);
             }});
  return y;
}

} // namespace

Images convolution(Tape& tape, const std::string& name, const Images& x, std::int64_t channels,
                   Window window, double gain) {
  conv2d::Geometry geometry;
  geometry.batch = x.tensor.rows;
  geometry.in_channels = x.channels;
  geometry.height = x.height;
  geometry.width = x.width;
  geometry.out_channels = channels;
  geometry.vertical = geometry.horizontal = axis(window);
  geometry.layout = x.layout;
  const Tensor w = weights(tape, name, channels, x, geometry.taps(),
                           {x.channels, window.kernel, window.kernel}, gain);
  const Tensor bias = vector(tape, {{name + ".bias", channels}}, 0, kBiasSpread);
  const Images y = images(tape, "conv", x, channels, geometry.out_height(), geometry.out_width());
  const Tensor workspace =
      tape.workspace(conv2d::workspace_bytes<float>(geometry, conv2d::Variant::automatic));
  tape.step({.op = "conv2d",
             .reads = {x.tensor, w, bias},
             .writes = {y.tensor, workspace},
             .work = conv2d::work(Dtype::f32, geometry),
             .run = [=](const Run& run) {
               const conv2d::Problem<float> problem{.geometry = geometry,
                                                    .x = run.at.f32(x.tensor),
                                                    .weights = run.at.f32(w),
                                                    .bias = run.at.f32(bias),
                                                    .y = run.at.f32(y.tensor),
                                                    .workspace = run.at.at(workspace)};
               conv2d::run(problem, conv2d::Variant::automatic, run.stream);
             }});
  return y;
}

Images relu(Tape& tape, const Images& x) {
  const Images y = images(tape, "relu", x, x.channels, x.height, x.width);
  tape.step({.op = "activation",
             .reads = {x.tensor},
             .writes = {y.tensor},
             .work = activation::work(Dtype::f32, x.tensor.size()),
             .run = [=](const Run& run) {
               activation::run(activation::Function::relu, run.at.f32(x.tensor),
                               run.at.f32(y.tensor), x.tensor.size(),
                               activation::Variant::automatic, run.stream);
             }});
  return y;
}

Images add(Tape& tape, const Images& a, const Images& b) {
  const Images y = images(tape, "sum", a, a.channels, a.height, a.width);
  tape.step({.op = "elementwise",
             .reads = {a.tensor, b.tensor},
             .writes = {y.tensor},
             .work = elementwise::work(Dtype::f32, a.tensor.size()),
             .run = [=](const Run& run) {
               elementwise::run(elementwise::Op::add, run.at.f32(a.tensor), run.at.f32(b.tensor),
                                run.at.f32(y.tensor), a.tensor.size(),
                                elementwise::Variant::automatic, run.stream);
             }});
  return y;
}

Images max_pool(Tape& tape, const Images& x, Window window) {
  return pool(tape, x, pooling::Kind::max, window);
}

Images global_average(Tape& tape, const Images& x) {
  return pool(tape, x, pooling::Kind::average_include_padding, {.kernel = x.height});
}

Images classify(Tape& tape, const std::string& name, const Images& x, std::int64_t features) {
  const Tensor w =
      weights(tape, name, features, x, x.places(), {x.channels * x.places()}, 1 / std::sqrt(2));
  const Tensor bias = vector(tape, {{name + ".bias", features}}, 0, kBiasSpread);
  return {linear(tape, x.tensor, w, bias), features, 1, 1, x.layout};
}

} // namespace kg::models
