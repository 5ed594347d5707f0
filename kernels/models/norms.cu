// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "models/layers.h"

#include "residual_rmsnorm/residual_rmsnorm.h"
#include "rmsnorm/rmsnorm.h"
#include "rmsnorm_backward/rmsnorm_backward.h"

namespace kg::models {
namespace {

MatrixView<float> view(const Run& run, Tensor tensor) {
  return matrix(run.at.f32(tensor), tensor.rows, tensor.cols);
}
MatrixView<const float> const_view(const Run& run, Tensor tensor) {
  return matrix<const float>(run.at.f32(tensor), tensor.rows, tensor.cols);
}

// The gradient of x by that of rmsnorm(x), and gamma's.
Tensor norm_gradient(Tape& tape, Tensor x, Tensor gamma, Tensor rstd, Tensor dy) {
  namespace op = rmsnorm_backward;
  const Tensor dx = tape.temporary("rmsnorm.dx", x.rows, x.cols);
  const Tensor dgamma = tape.temporary("rmsnorm.dgamma", gamma.rows, gamma.cols);
  const Tensor workspace =
      tape.workspace(op::workspace_bytes(op::Variant::automatic, x.rows, x.cols));
  tape.step({.op = "rmsnorm_backward",
             .reads = {dy, x, gamma, rstd},
             .writes = {dx, dgamma, workspace},
             .work = op::work(Dtype::f32, x.rows, x.cols),
             .run = [=](const Run& run) {
               op::run(const_view(run, dy), const_view(run, x), run.at.f32(gamma), run.at.f32(rstd),
                       view(run, dx), run.at.f32(dgamma), run.at.at(workspace),
                       op::Variant::automatic, run.stream);
             }});
  add_gradient(tape, gamma, dgamma);
  return dx;
}

} // namespace

Tensor rmsnorm(Tape& tape, Tensor x, Tensor gamma, float epsilon) {
  const Tensor y = tape.temporary("rmsnorm", x.rows, x.cols);
  const Tensor rstd = tape.temporary("rmsnorm.rstd", x.rows, 1);
  tape.step({.op = "rmsnorm",
             .reads = {x, gamma},
             .writes = {y, rstd},
             .work = rmsnorm::work(Dtype::f32, x.rows, x.cols),
             .run = [=](const Run& run) {
               rmsnorm::run(const_view(run, x), run.at.f32(gamma), epsilon, view(run, y),
                            run.at.f32(rstd), rmsnorm::Variant::automatic, run.stream);
             }});
  tape.on_backward([=](Tape& tape) {
    add_gradient(tape, x, norm_gradient(tape, x, gamma, rstd, tape.gradient(y)));
  });
  return y;
}

Normed add_rmsnorm(Tape& tape, Tensor x, Tensor residual, Tensor gamma, float epsilon) {
  namespace op = residual_rmsnorm;
  const Tensor sum = tape.temporary("residual", x.rows, x.cols);
  const Tensor y = tape.temporary("rmsnorm", x.rows, x.cols);
  const Tensor rstd = tape.temporary("rmsnorm.rstd", x.rows, 1);
  tape.step({.op = "residual_rmsnorm",
             .reads = {x, residual, gamma},
             .writes = {sum, y, rstd},
             .work = op::work(Dtype::f32, x.rows, x.cols),
             .run = [=](const Run& run) {
               op::run<float>(
                   {const_view(run, x), const_view(run, residual), view(run, sum), view(run, y)},
                   run.at.f32(gamma), epsilon, run.at.f32(rstd), op::Variant::automatic,
                   run.stream);
             }});
  // A sum hands its gradient to both of its terms. They share one tensor, which nobody writes to
  // afterwards: add_gradient writes over what comes, not over what is there.
  tape.on_backward([=](Tape& tape) {
    add_gradient(tape, sum, norm_gradient(tape, sum, gamma, rstd, tape.gradient(y)));
    tape.set_gradient(x, tape.gradient(sum));
    tape.set_gradient(residual, tape.gradient(sum));
  });
  return {sum, y};
}

} // namespace kg::models
