// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/models/trained.h"

#include "models/parts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kg::test {
namespace {

using models::Execution;
using models::Phase;

constexpr double kUnit = 0x1p-24; // f32's

double sum_of_sizes(const std::vector<double>& values) {
  double sum = 0;
  for (const double each : values) sum += std::abs(each);
  return sum;
}

double mean_size(const std::vector<double>& values) {
  return sum_of_sizes(values) / static_cast<double>(values.size());
}

double greatest_size(const std::vector<double>& values) {
  double greatest = 0;
  for (const double each : values) greatest = std::max(greatest, std::abs(each));
  return greatest;
}

double mean_distance(std::vector<double> a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return mean_size(a);
}

// What lies as the parameters do, part by part.
Weights<double> by_part(const models::Tape& tape,
                        const std::function<std::vector<float>(const models::Parameter&)>& values) {
  Weights<double> parts;
  for (const models::Parameter& parameter : tape.parameters()) {
    const std::vector<float> all = values(parameter);
    if (all.empty()) continue;
    auto at = all.begin();
    for (const models::Part& part : parameter.parts) {
      const auto end = at + part.rows * parameter.value.cols;
      parts[part.name].assign(at, end);
      at = end;
    }
  }
  return parts;
}

// The farthest that errors of f32 at random move each gradient, in so many runs of the reference.
Weights<double> spread_of(const ReferenceLoss& loss, const Weights<double>& weights,
                          const Weights<double>& gradient, int samples) {
  Weights<double> spread;
  for (const auto& [name, values] : gradient) spread[name].resize(values.size());
  for (int sample = 0; sample < samples; ++sample) {
    const Weights<double> moved = moved_at_random(loss, weights);
    for (auto& [name, values] : spread)
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = std::max(values[i], std::abs(moved.at(name)[i] - gradient.at(name)[i]));
  }
  return spread;
}

// After so many steps. A step of AdamW is `rate` times a quotient, whose relative error is that of
// the gradient, of which each step's update of the weight rounds three times. Of gradients that
// spread evenly up to G, and err by 5e-7 G (expect_gradients), the mean of 2 5e-7 G / |g|, at most
// 2, is 2 5e-7 (1 + log(2e6)) = 1.5e-5; 1e-4 leaves room for those that do not spread so. Weights
// whose gradient is 0 but for rounding, as that of a bias of keys is, are left out: the sign of
// their steps means nothing, and the loss does not depend on them. A step of momentum is at most
// rate G / (1 - 0.9), of which again 1e-4.
void expect_near_weights(const Weights<double>& ours, const Weights<double>& reference,
                         const Weights<double>& gradient, int steps, const Training& how) {
  for (const auto& [name, values] : reference) {
    const double greatest = greatest_size(gradient.at(name));
    if (greatest == 0) continue; // running statistics, which no step moves
    const double farthest = how.adamw ? how.rate : how.rate * greatest / (1 - 0.9);
    const double bound = steps * (1e-4 * farthest + 3 * kUnit * mean_size(values));
    const double least = 1e-9 * greatest;
    double distance = 0, count = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (std::abs(gradient.at(name)[i]) > least) {
        distance += std::abs(ours.at(name)[i] - values[i]);
        ++count;
      }
    EXPECT_GT(count, 0) << name << ": no gradient tells anything";
    EXPECT_LE(distance, bound * count) << name << " after step " << steps;
  }
}

} // namespace

LossAndGradient differentiate(const ReferenceLoss& loss, const Weights<double>& weights) {
  scalar_nodes().clear();
  Weights<Scalar> scalars;
  for (const auto& [name, values] : weights)
    for (const double value : values) scalars[name].push_back(Scalar::variable(value));
  const Scalar result = loss.of_scalars(scalars);
  const std::vector<double> by = adjoints(result);
  LossAndGradient both{result.value(), condition(by), {}};
  for (const auto& [name, values] : scalars)
    for (const Scalar& each : values)
      both.gradient[name].push_back(by[static_cast<std::size_t>(each.node())]);
  return both;
}

Weights<double> moved_at_random(const ReferenceLoss& loss, const Weights<double>& weights,
                                Dtype dtype) {
  scalar_unit() = kUnit;
  stored_unit() = dtype == Dtype::f32 ? 0 : unit_roundoff(dtype);
  Weights<double> gradient = differentiate(loss, weights).gradient;
  scalar_unit() = stored_unit() = 0;
  return gradient;
}

Weights<double> weights_of(const Execution& execution) {
  return by_part(execution.tape(), [&](const models::Parameter& parameter) {
    return models::read_parts(execution, parameter);
  });
}

Weights<double> gradients_of(const Execution& execution) {
  return by_part(execution.tape(), [&](const models::Parameter& parameter) {
    const models::Tensor gradient = execution.tape().gradient(parameter.value);
    return gradient.exists() ? models::in_file_order(parameter, execution.read(gradient))
                             : std::vector<float>{};
  });
}

void keep_gradients(models::Tape& tape) {
  for (const models::Parameter& parameter : tape.parameters())
    if (tape.gradient(parameter.value).exists()) tape.keep(tape.gradient(parameter.value));
}

void ReferenceOptimiser::step(Weights<double>& weights, const Weights<double>& gradient) {
  constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8;
  ++number_;
  for (auto& [name, values] : weights) {
    std::vector<double>&first = first_[name], &second = second_[name];
    first.resize(values.size());
    second.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double g = gradient.at(name)[i];
      if (!how_.adamw) {
        first[i] = kBeta1 * first[i] + g + how_.decay * values[i];
        values[i] -= how_.rate * first[i];
        continue;
      }
      first[i] = kBeta1 * first[i] + (1 - kBeta1) * g;
      second[i] = kBeta2 * second[i] + (1 - kBeta2) * g * g;
      const double mean = first[i] / (1 - std::pow(kBeta1, number_));
      const double square = second[i] / (1 - std::pow(kBeta2, number_));
      values[i] -= how_.rate * (how_.decay * values[i] + mean / (std::sqrt(square) + kEpsilon));
    }
  }
}

void expect_near(std::span<const float> ours, const Rows<double>& reference, double share) {
  double distance = 0, size = 0;
  std::size_t at = 0;
  for (const std::vector<double>& row : reference)
    for (const double each : row) {
      distance += std::abs(each - static_cast<double>(ours[at++]));
      size += std::abs(each);
    }
  ASSERT_EQ(at, ours.size());
  distance /= static_cast<double>(at);
  size /= static_cast<double>(at);
  std::printf("mean absolute error %.2e of outputs whose mean size is %.2e\n", distance, size);
  EXPECT_LE(distance, share * std::min(size, 1.0));
}

void expect_gradients(Execution& execution, const ReferenceLoss& loss, const Training& how) {
  execution.run(Phase::forward);
  execution.run(Phase::backward);
  const Weights<double> weights = weights_of(execution), ours = gradients_of(execution);
  const LossAndGradient reference = differentiate(loss, weights);
  const Weights<double> spread = spread_of(loss, weights, reference.gradient, how.samples);
  double worst = 0;
  for (const auto& each : reference.gradient) {
    const std::string& name = each.first;
    const std::vector<double>& gradient = each.second;
    if (!ours.contains(name)) {
      EXPECT_EQ(greatest_size(gradient), 0) << name << ": it has no gradient";
      continue;
    }
    EXPECT_LE(mean_distance(ours.at(name), gradient),
              std::max(1e-5, 4 * mean_size(spread.at(name))))
        << name;
    const double greatest = greatest_size(gradient);
    double farthest = 0;
    for (std::size_t i = 0; i < gradient.size(); ++i)
      farthest = std::max(farthest, std::abs(gradient[i] - ours.at(name)[i]));
    EXPECT_GT(greatest, 1e-5) << name << ": its gradient tells nothing";
    // Each is a sum of products of what itself is the end of a few hundred operations, most of
    // whose errors cancel: sqrt(300) units, with a margin of 4 for cancellation in the sum.
    EXPECT_LE(farthest,
              4 * std::max(std::sqrt(300) * kUnit * greatest, greatest_size(spread.at(name))))
        << name;

    // Central differences: an error of h^2 / 6 times the third derivative, and of 2^-53 / h.
    const auto moved = [&](double step) {
      Weights<double> there = weights;
      for (std::size_t i = 0; i < gradient.size(); ++i)
        there[name][i] += step * std::copysign(1, gradient[i]);
      return loss.of_doubles(there);
    };
    const double slope = (moved(how.difference) - moved(-how.difference)) / (2 * how.difference);
    double along = 0;
    for (std::size_t i = 0; i < gradient.size(); ++i)
      along += ours.at(name)[i] * std::copysign(1, gradient[i]);
    EXPECT_NEAR(along, slope, 1e-5 * sum_of_sizes(gradient) + sum_of_sizes(spread.at(name)))
        << name;
    worst = std::max(worst, farthest / greatest);
  }
  std::printf("gradients: farthest %.1e of a parameter's greatest\n", worst);
}

void expect_same_training(Execution& execution, models::Tensor loss, const ReferenceLoss& reference,
                          const Training& how) {
  Weights<double> weights = weights_of(execution);
  ReferenceOptimiser optimiser(how);
  double first = 0, last = 0;
  for (int step = 0; step < 10; ++step) {
    const Weights<double> ours = weights_of(execution);
    execution.run(Phase::forward);
    execution.run(Phase::backward);
    execution.run(Phase::update);
    const LossAndGradient there = differentiate(reference, weights);
    // To first order: an operation errs by a unit, an exponential by four; and a weight that is off
    // moves the loss by its derivative times that, twice which leaves room for its curvature.
    double bound = 4 * kUnit * there.condition;
    for (const auto& [name, gradient] : there.gradient)
      for (std::size_t i = 0; i < gradient.size(); ++i)
        bound += 2 * std::abs(gradient[i] * (weights.at(name)[i] - ours.at(name)[i]));
    last = execution.read(loss).front();
    if (step == 0) first = last;
    EXPECT_NEAR(last, there.loss, bound) << "step " << step;
    EXPECT_LE(bound, 1e-3 * first) << "step " << step << ": the bound tells nothing";
    expect_near_weights(ours, weights, there.gradient, step, how);
    std::printf("step %d: loss %.7f, reference %.7f, bound %.1e\n", step, last, there.loss, bound);
    optimiser.step(weights, there.gradient);
  }
  EXPECT_LT(last, 0.99 * first) << "ten steps have taught it nothing";
}

void expect_planned_memory(const std::function<models::Model()>& make) {
  constexpr std::uint64_t kSeed = 7;
  const auto result = [&](const std::function<void(Execution&)>& run) {
    Stream stream;
    models::Model model = make();
    const models::Tensor output = model.output, loss = model.loss;
    keep_gradients(model.tape);
    Execution execution(std::move(model.tape), stream);
    models::initialise(execution, kSeed);
    model.fill_inputs(execution, kSeed);
    run(execution);
    execution.check_memory();
    const models::MemoryUse use = execution.memory();
    EXPECT_EQ(use.measured, use.predicted);
    EXPECT_GE(use.predicted, use.most_live);
    EXPECT_LT(use.predicted, use.unshared);
    std::vector<std::vector<float>> all = {execution.read(output), execution.read(loss)};
    for (const models::Parameter& parameter : execution.tape().parameters())
      for (const models::Tensor each :
           {parameter.value, execution.tape().gradient(parameter.value)})
        if (each.exists()) all.push_back(execution.read(each));
    return all;
  };
  // Forward and backward twice, as the graph is launched: running statistics move each time.
  const auto once = [](Execution& execution) {
    for (const Phase phase :
         {Phase::forward, Phase::backward, Phase::forward, Phase::backward, Phase::update})
      execution.run(phase);
  };
  const auto plain = result(once);
  for (const std::vector<float>& tensor : plain)
    for (const float value : tensor) ASSERT_TRUE(std::isfinite(value));
  EXPECT_EQ(plain, result([&](Execution& execution) {
              execution.poison_unused(true);
              once(execution);
            }))
      << "a tensor was read when it was dead";
  EXPECT_EQ(plain, result([](Execution& execution) {
              Graph graph = Graph::capture(execution.stream(), [&](Stream&) {
                execution.run(Phase::forward);
                execution.run(Phase::backward);
              });
              graph.launch(execution.stream());
              graph.launch(execution.stream());
              execution.run(Phase::update);
            }))
      << "a graph gave other bits";
}

} // namespace kg::test
