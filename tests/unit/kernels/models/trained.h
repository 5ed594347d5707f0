// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One model in two implementations: the one under test, and the plain loops of reference.h in
// double, which are trained beside it.
#pragma once

#include "models/initial_values.h"
#include "models/model.h"
#include "tests/unit/kernels/models/gpt2_reference.h"

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

// Part by part, as files hold them. Gradients: of the parameters that have one.
Weights<double> weights_of(const models::Execution& execution);
Weights<double> gradients_of(const models::Execution& execution);
// Gradients are there to be read after a run.
void keep_gradients(models::Tape& tape);

// How a model is trained, and what its gradients come from.
struct Training {
  bool adamw = true; // or momentum
  double rate = 1e-3;
  double decay = 0.01;
  // Of gradients that rounding moves far, as a batchnorm of a few places does: so many runs of the
  // reference with errors at random (scalar.h) say how far.
  int samples = 0;
  double difference = 1e-5; // of weights, for central differences of the loss
};

// AdamW in double (Loshchilov and Hutter, arXiv 1711.05101), or gradient descent with momentum
// (Sutskever et al., ICML 2013, as PyTorch writes it); with the settings of the models.
class ReferenceOptimiser {
 public:
  explicit ReferenceOptimiser(const Training& how = {}) : how_(how) {}
  void step(Weights<double>& weights, const Weights<double>& gradient);

 private:
  const Training how_;
  Weights<double> first_, second_;
  int number_ = 0;
};

// The gradient where every operation of the reference errs at random by f32's units, and every
// tensor that is stored by those of `dtype`; others each time.
Weights<double> moved_at_random(const ReferenceLoss& loss, const Weights<double>& weights,
                                Dtype dtype = Dtype::f32);

// The tests that every model passes; each fails through GoogleTest.
// Outputs: a mean absolute error of at most `share` of the reference's mean size, and of that.
void expect_near(std::span<const float> ours, const Rows<double>& reference, double share = 1e-5);
// Gradients: those of the reference, element by element, and fp64 central differences of its loss
// along the sign of each parameter's gradient.
void expect_gradients(models::Execution& execution, const ReferenceLoss& loss,
                      const Training& how = {});
// Ten steps: each loss as close to the reference's as the weights of that step and the
// rounding of one forward pass allow.
void expect_same_training(models::Execution& execution, models::Tensor loss,
                          const ReferenceLoss& reference, const Training& how = {});
// Memory that dies is poisoned, and the same bits come out; so do they of a replayed graph. The
// device held what was planned.
void expect_planned_memory(const std::function<models::Model()>& make);

} // namespace kg::test
