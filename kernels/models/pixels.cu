// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Image layers that do not mix channels.
#include "models/images.h"

#include "models/element.h"
#include "models/layers.h"
#include "ops/activation/activation.h"
#include "ops/activation_backward/activation_backward.h"
#include "ops/batchnorm/batchnorm.h"
#include "ops/batchnorm_backward/batchnorm_backward.h"
#include "ops/pooling/pooling.h"
#include "ops/pooling_backward/pooling_backward.h"

namespace kg::models {
namespace {

Tensor like(Tape& tape, const char* name, Tensor tensor) {
  return tape.temporary(name, tensor.rows, tensor.cols, tensor.dtype);
}

template <class T>
Tensor relu_of(Tape& tape, Tensor x) {
  using activation::Function;
  const Tensor y = like(tape, "relu", x);
  tape.step({.op = "activation",
             .reads = {x},
             .writes = {y},
             .work = activation::work(dtype_of<T>, x.size()),
             .run = [=](const Run& run) {
               activation::run(Function::relu, run.at.as<T>(x), run.at.as<T>(y), x.size(),
                               activation::Variant::automatic, run.stream);
             }});
  tape.on_backward([=](Tape& tape) {
    namespace op = activation_backward;
    const Tensor dy = tape.gradient(y);
    const Tensor dx = like(tape, "relu.dx", x);
    tape.step({.op = "activation_backward",
               .reads = {x, dy},
               .writes = {dx},
               .work = op::work(dtype_of<T>, x.size()),
               .run = [=](const Run& run) {
                 op::run(Function::relu, run.at.as<T>(x), run.at.as<T>(dy), run.at.as<T>(dx),
                         x.size(), op::Variant::automatic, run.stream);
               }});
    add_gradient(tape, x, dx);
  });
  return y;
}

template <class T>
Tensor pool_of(Tape& tape, Tensor x, pooling::Kind kind, const pooling::Problem& problem) {
  const std::int64_t outputs = problem.channels * problem.out_height() * problem.out_width();
  const Tensor y = tape.temporary("pool", x.rows, outputs, x.dtype);
  tape.step({.op = "pooling",
             .reads = {x},
             .writes = {y},
             .work = pooling::work(dtype_of<T>, problem),
             .run = [=](const Run& run) {
               pooling::run(kind, problem, run.at.as<T>(x), run.at.as<T>(y),
                            pooling::Variant::automatic, run.stream);
             }});
  tape.on_backward([=](Tape& tape) {
    namespace op = pooling_backward;
    const Tensor dy = tape.gradient(y);
    const Tensor dx = like(tape, "pool.dx", x);
    const Tensor seen = kind == pooling::Kind::max ? x : Tensor{};
    const Tensor workspace =
        tape.workspace(op::workspace_bytes(op::Variant::automatic, kind, problem));
    tape.step({.op = "pooling_backward",
               .reads = {seen, dy},
               .writes = {dx, workspace},
               .work = op::work(dtype_of<T>, kind, problem),
               .run = [=](const Run& run) {
                 op::run(kind, problem, run.at.as<T>(seen), run.at.as<T>(dy), run.at.as<T>(dx),
                         run.at.at(workspace), op::Variant::automatic, run.stream);
               }});
    add_gradient(tape, x, dx);
  });
  return y;
}

Images pool(Tape& tape, const Images& x, pooling::Kind kind, Window window) {
  const window::Axis axis{.kernel = window.kernel,
                          .stride = window.stride,
                          .pad_before = window.padding,
                          .pad_after = window.padding};
  pooling::Problem problem;
  problem.batch = x.tensor.rows;
  problem.channels = x.channels;
  problem.height = x.height;
  problem.width = x.width;
  problem.vertical = problem.horizontal = axis;
  problem.layout = x.layout;
  const Tensor y = with_element(x.tensor.dtype, [&](auto element) {
    return pool_of<decltype(element)>(tape, x.tensor, kind, problem);
  });
  return {y, x.channels, problem.out_height(), problem.out_width(), x.layout};
}

// One element of each per channel.
struct Normalisation {
  Tensor gamma, beta, mean, variance; // mean and variance are the running statistics
};
constexpr float kEpsilon = 1e-5F; // as in torchvision, like the running statistics' momentum of 0.1

template <class T>
void normalise_running(Tape& tape, const batchnorm::Problem& problem, Tensor x,
                       const Normalisation& by, Tensor y) {
  tape.step({.op = "batchnorm",
             .reads = {x, by.gamma, by.beta, by.mean, by.variance},
             .writes = {y},
             .work = batchnorm::inference_work(dtype_of<T>, problem),
             .run = [=](const Run& run) {
               batchnorm::run_inference(problem, run.at.as<T>(x), run.at.f32(by.gamma),
                                        run.at.f32(by.beta), run.at.f32(by.mean),
                                        run.at.f32(by.variance), kEpsilon, run.at.as<T>(y),
                                        batchnorm::Variant::automatic, run.stream);
             }});
}

template <class T>
void normalise_batch(Tape& tape, const batchnorm::Problem& problem, Tensor x,
                     const Normalisation& by, Tensor y) {
  const Tensor mean = like(tape, "batchnorm.mean", by.mean);
  const Tensor rstd = like(tape, "batchnorm.rstd", by.mean);
  const Tensor workspace = tape.workspace(
      batchnorm::workspace_bytes(batchnorm::Variant::automatic, dtype_of<T>, problem));
  tape.step({.op = "batchnorm",
             .reads = {x, by.gamma, by.beta, by.mean, by.variance},
             .writes = {y, mean, rstd, by.mean, by.variance, workspace},
             .work = batchnorm::training_work(dtype_of<T>, problem),
             .run = [=](const Run& run) {
               batchnorm::run_training(
                   problem, run.at.as<T>(x), run.at.f32(by.gamma), run.at.f32(by.beta), kEpsilon,
                   {run.at.f32(by.mean), run.at.f32(by.variance)}, run.at.as<T>(y),
                   run.at.f32(mean), run.at.f32(rstd), run.at.at(workspace),
                   batchnorm::Variant::automatic, run.stream);
             }});
  tape.on_backward([=](Tape& tape) {
    namespace op = batchnorm_backward;
    const Tensor dy = tape.gradient(y);
    const Tensor dx = like(tape, "batchnorm.dx", x);
    const Tensor dgamma = like(tape, "batchnorm.dgamma", by.gamma);
    const Tensor dbeta = like(tape, "batchnorm.dbeta", by.beta);
    const Tensor workspace =
        tape.workspace(op::workspace_bytes(op::Variant::automatic, dtype_of<T>, problem));
    tape.step({.op = "batchnorm_backward",
               .reads = {dy, x, by.gamma, mean, rstd},
               .writes = {dx, dgamma, dbeta, workspace},
               .work = op::work(dtype_of<T>, problem),
               .run = [=](const Run& run) {
                 op::run(problem, run.at.as<T>(dy), run.at.as<T>(x), run.at.f32(by.gamma),
                         run.at.f32(mean), run.at.f32(rstd), run.at.as<T>(dx), run.at.f32(dgamma),
                         run.at.f32(dbeta), run.at.at(workspace), op::Variant::automatic,
                         run.stream);
               }});
    add_gradient(tape, x, dx);
    add_gradient(tape, by.gamma, dgamma);
    add_gradient(tape, by.beta, dbeta);
  });
}

} // namespace

Images batchnorm(Tape& tape, const std::string& name, const Images& x, Statistics statistics,
                 double gain) {
  const auto parameter = [&](const char* ending, double centre, double spread) {
    return vector(tape, {{name + ending, x.channels}}, centre, spread);
  };
  constexpr double kSpread = 0.1; // varies the usual 0 and 1, so that tests detect their effect
  const Normalisation by{parameter(".weight", gain, kSpread * gain), parameter(".bias", 0, kSpread),
                         parameter(".running_mean", 0, kSpread),
                         parameter(".running_var", 1, kSpread)};
  const kg::batchnorm::Problem problem{x.tensor.rows, x.channels, x.places(), x.layout};
  const Tensor y = like(tape, "batchnorm", x.tensor);
  with_element(x.tensor.dtype, [&](auto element) {
    using T = decltype(element);
    statistics == Statistics::batch ? normalise_batch<T>(tape, problem, x.tensor, by, y)
                                    : normalise_running<T>(tape, problem, x.tensor, by, y);
  });
  return {y, x.channels, x.height, x.width, x.layout};
}

Images relu(Tape& tape, const Images& x) {
  const Tensor y = with_element(
      x.tensor.dtype, [&](auto element) { return relu_of<decltype(element)>(tape, x.tensor); });
  return {y, x.channels, x.height, x.width, x.layout};
}

Images add(Tape& tape, const Images& a, const Images& b) {
  return {add(tape, a.tensor, b.tensor), a.channels, a.height, a.width, a.layout};
}

Images max_pool(Tape& tape, const Images& x, Window window) {
  return pool(tape, x, pooling::Kind::max, window);
}

Images global_average(Tape& tape, const Images& x) {
  require(x.height == x.width, "global_average: images are squares");
  return pool(tape, x, pooling::Kind::average_include_padding, {.kernel = x.height});
}

} // namespace kg::models
