// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One model in two implementations: the one under test, and the plain loops of reference.h in
// double, which are trained beside it.
#pragma once

#include "models/initial_values.h"
#include "models/model.h"
#include "tests/models/gpt2_reference.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace kg::test {

// The loss as a function of the weights, of either T.
struct ReferenceLoss {
  std::function<double(const Weights<double>&)> of_doubles;
  std::function<Scalar(const Weights<Scalar>&)> of_scalars;
};

struct LossAndGradient {
  double loss = 0;
  double condition = 0; // of the loss (scalar.h)
  Weights<double> gradient;
};
LossAndGradient differentiate(const ReferenceLoss& loss, const Weights<double>& weights);

// Part by part, as files hold them.
Weights<double> weights_of(const models::Execution& execution);
Weights<double> gradients_of(const models::Execution& execution);
// Gradients are there to be read after a run.
void keep_gradients(models::Tape& tape);

// AdamW in double (Loshchilov and Hutter, arXiv 1711.05101), with the settings of the models.
class ReferenceAdamw {
 public:
  void step(Weights<double>& weights, const Weights<double>& gradient);

 private:
  Weights<double> first_, second_;
  int number_ = 0;
};

// The tests that every model passes; each fails through GoogleTest.
// Outputs: a mean absolute error of at most `share` of the reference's mean size, and of that.
void expect_near(std::span<const float> ours, const Rows<double>& reference, double share = 1e-5);
// Gradients: those of the reference, element by element, and fp64 central differences of its loss
// along the sign of each parameter's gradient.
void expect_gradients(models::Execution& execution, const ReferenceLoss& loss);
// Ten AdamW steps: each loss as close to the reference's as the weights of that step and the
// rounding of one forward pass allow.
void expect_same_training(models::Execution& execution, models::Tensor loss,
                          const ReferenceLoss& reference);
// Memory that dies is poisoned, and the same bits come out; so do they of a replayed graph. The
// device held what was planned.
void expect_planned_memory(const std::function<models::Model()>& make);

} // namespace kg::test
