// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Losses and the optimiser's step.
#include "models/layers.h"

#include "cross_entropy/cross_entropy.h"
#include "cross_entropy_backward/cross_entropy_backward.h"
#include "models/element.h"
#include "pointwise_loss/pointwise_loss.h"
#include "reduction/reduction.h"
#include "runtime/error.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kg::models {
namespace {

// The mean of all elements, in one.
template <class T>
Tensor mean(Tape& tape, Tensor x) {
  const reduction::Extents extents{1, x.size(), 1};
  const auto view = [=](const Addresses& at) { return reduction::packed<T>(at.as<T>(x), extents); };
  const Tensor y = tape.temporary("mean", 1, 1, x.dtype);
  const Tensor workspace = tape.workspace(
      reduction::workspace_bytes(view(tape.unplaced()), reduction::Variant::automatic));
  tape.step({.op = "reduction",
             .reads = {x},
             .writes = {y, workspace},
             .work = reduction::work(dtype_of<T>, extents),
             .run = [=](const Run& run) {
               reduction::run(reduction::Op::mean, view(run.at), run.at.as<T>(y),
                              run.at.at(workspace), reduction::Variant::automatic, run.stream);
             }});
  return y;
}

// Of a mean of so many each has this share of the gradient.
Tensor shares(Tape& tape, Tensor of) {
  const float share = static_cast<float>(1 / static_cast<double>(of.size()));
  return tape.constant("share of the mean", of.rows, of.cols,
                       std::vector<float>(static_cast<std::size_t>(of.size()), share), of.dtype);
}

template <class T>
Tensor cross_entropy_of(Tape& tape, Tensor logits, Tensor target) {
  const Tensor losses = tape.temporary("loss", logits.rows, 1);
  const Tensor log_sum = tape.temporary("log_sum", logits.rows, 1);
  const auto problem = [=](const Addresses& at) {
    kg::cross_entropy::Problem<T> p;
    p.rows = logits.rows;
    p.classes = p.logits_stride = logits.cols;
    p.logits = at.as<T>(logits);
    p.objective.target = at.i32(target);
    p.loss = at.f32(losses);
    p.log_sum = at.f32(log_sum);
    return p;
  };
  tape.step({.op = "cross_entropy",
             .reads = {logits, target},
             .writes = {losses, log_sum},
             .work = kg::cross_entropy::work(problem(tape.unplaced())),
             .run = [=](const Run& run) {
               kg::cross_entropy::run(problem(run.at), kg::cross_entropy::Variant::automatic,
                                      run.stream);
             }});
  const Tensor share = shares(tape, losses);
  tape.on_backward([=](Tape& tape) {
    namespace op = cross_entropy_backward;
    const Tensor dlogits = tape.temporary("dlogits", logits.rows, logits.cols, logits.dtype);
    const auto gradient = [=](const Addresses& at) {
      const auto forward = problem(at);
      op::Problem<T> p;
      p.rows = forward.rows;
      p.classes = p.logits_stride = p.gradient_stride = forward.classes;
      p.logits = forward.logits;
      p.objective = forward.objective;
      p.log_sum = forward.log_sum;
      p.loss_gradient = at.f32(share);
      p.gradient = at.as<T>(dlogits);
      return p;
    };
    tape.step({.op = "cross_entropy_backward",
               .reads = {logits, target, log_sum, share},
               .writes = {dlogits},
               .work = op::work(gradient(tape.unplaced())),
               .run = [=](const Run& run) {
                 op::run(gradient(run.at), op::Variant::automatic, run.stream);
               }});
    add_gradient(tape, logits, dlogits);
  });
  return mean<float>(tape, losses);
}

template <class T>
Tensor mean_square_error_of(Tape& tape, Tensor y, Tensor target) {
  namespace op = pointwise_loss;
  const Tensor losses = tape.temporary("loss", y.rows, y.cols, y.dtype);
  const Tensor share = shares(tape, losses);
  const auto step = [=](Tape& tape, op::Direction direction, Tensor result) {
    const auto problem = [=](const Addresses& at) {
      op::Problem<T> p;
      p.kind = op::Kind::mse;
      p.direction = direction;
      p.n = y.size();
      p.x = at.as<T>(y);
      p.target = at.as<T>(target);
      if (direction == op::Direction::backward) p.loss_gradient = at.as<T>(share);
      p.result = at.as<T>(result);
      return p;
    };
    tape.step({.op = "pointwise_loss",
               .reads = {y, target, share},
               .writes = {result},
               .work = op::work(problem(tape.unplaced())),
               .run = [=](const Run& run) {
                 op::run(problem(run.at), op::Variant::automatic, run.stream);
               }});
  };
  step(tape, op::Direction::forward, losses);
  tape.on_backward([=](Tape& tape) {
    const Tensor dy = tape.temporary("dy", y.rows, y.cols, y.dtype);
    step(tape, op::Direction::backward, dy);
    add_gradient(tape, y, dy);
  });
  return mean<T>(tape, losses);
}

struct Trained {
  Tensor value, gradient, master = {}, first = {}, second = {};
};

// The parameters of that type that have a gradient, with what an optimiser keeps of each.
std::vector<Trained> trained(Tape& tape, Dtype dtype, optimizer::Kind kind) {
  std::vector<Trained> all;
  for (const Parameter& parameter : tape.parameters()) {
    const Tensor value = parameter.value;
    if (value.dtype != dtype || !tape.gradient(value).exists()) continue;
    const auto moment = [&](const char* ending) {
      return tape.state(parameter.parts.front().name + ending, value.rows, value.cols);
    };
    Trained each{value, tape.gradient(value)};
    if (dtype != Dtype::f32) each.master = tape.master(value);
    if (optimizer::has_first(kind)) each.first = moment(".first");
    if (optimizer::has_second(kind)) each.second = moment(".second");
    all.push_back(each);
  }
  return all;
}

template <class T>
void update(Tape& tape, optimizer::Kind kind, const optimizer::Step& settings,
            const std::vector<Trained>& trained) {
  using Row = optimizer::Parameter<T>;
  Step step{.op = "optimizer"};
  std::int64_t elements = 0;
  for (const Trained& each : trained) {
    step.reads.insert(step.reads.end(), {each.gradient, each.value, each.master});
    step.writes.insert(step.writes.end(), {each.value, each.master, each.first, each.second});
    elements += each.value.size();
  }
  const auto rows = [trained](const Addresses& at) {
    std::vector<Row> rows;
    for (const Trained& each : trained)
      rows.push_back({.size = each.value.size(),
                      .value = at.as<T>(each.value),
                      .gradient = at.as<T>(each.gradient),
                      .master = at.f32(each.master),
                      .first = at.f32(each.first),
                      .second = at.f32(each.second)});
    return rows;
  };
  const std::size_t bytes = optimizer::table_bytes<T>(std::span<const Row>(rows(tape.unplaced())));
  const Tensor memory = tape.state("optimizer.table." + std::string(name(dtype_of<T>)),
                                   static_cast<std::int64_t>(bytes / 4 + 1), 1);
  const auto table = std::make_shared<optimizer::Table<T>>();
  tape.prepare([=](const Run& run) {
    for (const Trained& each : trained)
      for (const Tensor& moment : {each.first, each.second})
        if (moment.exists())
          fill_bytes(run.at.at(moment), 0, static_cast<std::size_t>(moment.bytes()), run.stream);
    *table = optimizer::make_table<T>(kind, std::span<const Row>(rows(run.at)), run.at.at(memory),
                                      run.stream);
  });
  step.reads.push_back(memory);
  step.work = optimizer::work<T>(kind, elements, settings);
  step.run = [=](const Run& run) {
    optimizer::Step now = settings;
    now.number = run.update;
    optimizer::run(*table, now, optimizer::Variant::automatic, run.stream);
  };
  tape.step(std::move(step));
}

} // namespace

Tensor cross_entropy(Tape& tape, Tensor logits, Tensor target) {
  return with_element(logits.dtype, [&](auto element) {
    return cross_entropy_of<decltype(element)>(tape, logits, target);
  });
}

Tensor mean_square_error(Tape& tape, Tensor y, Tensor target) {
  return with_element(y.dtype, [&](auto element) {
    return mean_square_error_of<decltype(element)>(tape, y, target);
  });
}

void optimise(Tape& tape, optimizer::Kind kind, const optimizer::Step& settings) {
  tape.begin(Phase::update);
  bool any = false;
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f16}) {
    const std::vector<Trained> all = trained(tape, dtype, kind);
    if (all.empty()) continue;
    // Gradients below f16's 6e-8 would be lost without a scale of the loss.
    require(dtype != Dtype::f16, "models of f16 are for inference; bf16 and f32 can be trained");
    with_element(dtype,
                 [&](auto element) { update<decltype(element)>(tape, kind, settings, all); });
    any = true;
  }
  require(any, "optimise: no parameter has a gradient");
}

} // namespace kg::models
