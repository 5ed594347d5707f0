// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Losses and the optimizer step.
#include "models/layers.h"

#include "models/element.h"
#include "models/loss_scale.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/cross_entropy_backward/cross_entropy_backward.h"
#include "ops/grad_norm/grad_norm.h"
#include "ops/pointwise_loss/pointwise_loss.h"
#include "ops/reduction/reduction.h"
#include "runtime/error.h"

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kg::models {
namespace {

// The mean of all elements, as a 1 x 1 tensor.
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

// The gradient of a mean over the elements of `of`: 1 / size for each element, times the loss scale
// for a 16-bit model.
Tensor shares(Tape& tape, Tensor of, Dtype model) {
  const float share = static_cast<float>(first_scale(model) / static_cast<double>(of.size()));
  const std::vector<float> values(static_cast<std::size_t>(of.size()), share);
  if (model == Dtype::f32) return tape.constant(kLossShares, of.rows, of.cols, values);
  const Tensor shares = tape.state(kLossShares, of.rows, of.cols, of.dtype);
  const Tensor unscale = tape.state(kLossUnscale, 1, 1);
  tape.prepare([=](const Run& run) {
    const std::vector<std::byte> bytes = encoded(values, of.dtype);
    copy_to_device(run.at.at(shares), bytes.data(), bytes.size(), run.stream);
    const float inverse = 1 / first_scale(model);
    copy_to_device(run.at.at(unscale), &inverse, sizeof(inverse), run.stream);
  });
  return shares;
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
  const Tensor share = shares(tape, losses, logits.dtype);
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
  const Tensor share = shares(tape, losses, y.dtype);
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

// The parameters of type `dtype` that have a gradient, with the optimizer state of each.
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

// The norm of all gradients together. The optimizer reads `scale` and `found_inf`.
struct Norm {
  Tensor norm = {}, scale = {}, found_inf = {};
};

// The norm of these gradients and of `before`, the norm of the previous type's gradients. The norm
// of partial norms is the norm of all, and a non-finite gradient sets the one flag.
template <class T>
Norm norm_of(Tape& tape, const std::vector<Trained>& trained, Tensor before, Tensor unscale) {
  using Row = grad_norm::Gradient<T>;
  require(!before.exists() || dtype_of<T> == Dtype::f32, "optimize: 16 bits of two types");
  const std::string type(name(dtype_of<T>));
  const Norm norm{
      tape.state("loss.norm." + type, 1, 1), tape.state("loss.rescale." + type, 1, 1),
      tape.state(unscale.exists() ? kFoundInf : "loss.found_inf." + type, 1, 1, Dtype::i32)};
  Step step{.op = "grad_norm"};
  for (const Trained& each : trained) step.reads.push_back(each.gradient);
  if (before.exists()) step.reads.push_back(before);
  const auto rows = [reads = step.reads](const Addresses& at) {
    std::vector<Row> rows;
    for (const Tensor& each : reads) rows.push_back({each.size(), at.as<T>(each)});
    return rows;
  };
  std::int64_t elements = 0;
  for (const Tensor& each : step.reads) elements += each.size();
  const std::size_t bytes = grad_norm::table_bytes<T>(std::span<const Row>(rows(tape.unplaced())));
  const Tensor memory =
      tape.state("loss.norm.table." + type, static_cast<std::int64_t>(bytes / 4 + 1), 1);
  const auto table = std::make_shared<grad_norm::Table<T>>();
  tape.prepare([=](const Run& run) {
    const grad_norm::Results results{run.at.f32(norm.norm), run.at.f32(norm.scale),
                                     run.at.i32(norm.found_inf)};
    *table = grad_norm::make_table<T>(std::span<const Row>(rows(run.at)), results,
                                      run.at.at(memory), run.stream);
  });
  step.reads.insert(step.reads.end(), {memory, unscale});
  step.writes = {norm.norm, norm.scale, norm.found_inf, memory};
  step.work = grad_norm::work<T>(elements, unscale.exists());
  step.run = [=](const Run& run) {
    constexpr double kUnclipped = std::numeric_limits<double>::infinity();
    grad_norm::run(*table, run.at.f32(unscale), kUnclipped, grad_norm::Variant::automatic,
                   run.stream);
  };
  tape.step(std::move(step));
  return norm;
}

template <class T>
void update(Tape& tape, optimizer::Kind kind, const optimizer::Step& settings,
            const std::vector<Trained>& trained, const Norm& norm) {
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
  step.reads.insert(step.reads.end(), {memory, norm.scale, norm.found_inf});
  const auto at_device = [=](const Addresses& at) {
    optimizer::Step now = settings;
    now.scale = at.f32(norm.scale);
    now.found_inf = at.i32(norm.found_inf);
    return now;
  };
  step.work = optimizer::work<T>(kind, elements, at_device(tape.unplaced()));
  step.run = [=](const Run& run) {
    optimizer::Step now = at_device(run.at);
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
  // f32 comes last: a 16-bit model has its batchnorm parameters in f32.
  std::vector<std::pair<Dtype, std::vector<Trained>>> all;
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16, Dtype::f32})
    if (std::vector<Trained> some = trained(tape, dtype, kind); !some.empty())
      all.emplace_back(dtype, std::move(some));
  require(!all.empty(), "optimize: no parameter has a gradient");
  Norm norm;
  if (all.front().first != Dtype::f32)
    for (const auto& [dtype, some] : all) {
      const bool last = dtype == all.back().first;
      const Tensor unscale = last ? tape.named(kLossUnscale) : Tensor{};
      norm = with_element(dtype, [&, &some = some](auto element) {
        return norm_of<decltype(element)>(tape, some, norm.norm, unscale);
      });
    }
  for (const auto& [dtype, some] : all)
    with_element(dtype, [&, &some = some](auto element) {
      update<decltype(element)>(tape, kind, settings, some, norm);
    });
}

} // namespace kg::models
