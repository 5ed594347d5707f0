// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "models/layers.h"

#include "models/element.h"
#include "ops/layernorm/layernorm.h"
#include "ops/layernorm_backward/layernorm_backward.h"
#include "ops/residual_rmsnorm/residual_rmsnorm.h"
#include "ops/rmsnorm/rmsnorm.h"
#include "ops/rmsnorm_backward/rmsnorm_backward.h"

namespace kg::models {
namespace {

template <class T>
MatrixView<T> view(const Run& run, Tensor tensor) {
  return matrix(run.at.as<T>(tensor), tensor.rows, tensor.cols);
}
template <class T>
MatrixView<const T> const_view(const Run& run, Tensor tensor) {
  return matrix<const T>(run.at.as<T>(tensor), tensor.rows, tensor.cols);
}

// Returns the gradient of x from dy, that of rmsnorm(x), and adds the gradient of gamma.
template <class T>
Tensor norm_gradient(Tape& tape, Tensor x, Tensor gamma, Tensor rstd, Tensor dy) {
  namespace op = rmsnorm_backward;
  const Tensor dx = tape.temporary("rmsnorm.dx", x.rows, x.cols, x.dtype);
  const Tensor dgamma = tape.temporary("rmsnorm.dgamma", gamma.rows, gamma.cols, gamma.dtype);
  const Tensor workspace =
      tape.workspace(op::workspace_bytes(op::Variant::automatic, x.rows, x.cols));
  tape.step({.op = "rmsnorm_backward",
             .reads = {dy, x, gamma, rstd},
             .writes = {dx, dgamma, workspace},
             .work = op::work(dtype_of<T>, x.rows, x.cols),
             .run = [=](const Run& run) {
               op::run(const_view<T>(run, dy), const_view<T>(run, x), run.at.as<T>(gamma),
                       run.at.f32(rstd), view<T>(run, dx), run.at.as<T>(dgamma),
                       run.at.at(workspace), op::Variant::automatic, run.stream);
             }});
  add_gradient(tape, gamma, dgamma);
  return dx;
}

template <class T>
Tensor rmsnorm_of(Tape& tape, Tensor x, Tensor gamma, float epsilon) {
  const Tensor y = tape.temporary("rmsnorm", x.rows, x.cols, x.dtype);
  const Tensor rstd = tape.temporary("rmsnorm.rstd", x.rows, 1);
  tape.step({.op = "rmsnorm",
             .reads = {x, gamma},
             .writes = {y, rstd},
             .work = rmsnorm::work(dtype_of<T>, x.rows, x.cols),
             .run = [=](const Run& run) {
               rmsnorm::run(const_view<T>(run, x), run.at.as<T>(gamma), epsilon, view<T>(run, y),
                            run.at.f32(rstd), rmsnorm::Variant::automatic, run.stream);
             }});
  tape.on_backward([=](Tape& tape) {
    add_gradient(tape, x, norm_gradient<T>(tape, x, gamma, rstd, tape.gradient(y)));
  });
  return y;
}

template <class T>
Normed add_rmsnorm_of(Tape& tape, Tensor x, Tensor residual, Tensor gamma, float epsilon) {
  namespace op = residual_rmsnorm;
  const Tensor sum = tape.temporary("residual", x.rows, x.cols, x.dtype);
  const Tensor y = tape.temporary("rmsnorm", x.rows, x.cols, x.dtype);
  const Tensor rstd = tape.temporary("rmsnorm.rstd", x.rows, 1);
  tape.step({.op = "residual_rmsnorm",
             .reads = {x, residual, gamma},
             .writes = {sum, y, rstd},
             .work = op::work(dtype_of<T>, x.rows, x.cols),
             .run = [=](const Run& run) {
               op::run<T>({const_view<T>(run, x), const_view<T>(run, residual), view<T>(run, sum),
                           view<T>(run, y)},
                          run.at.as<T>(gamma), epsilon, run.at.f32(rstd), op::Variant::automatic,
                          run.stream);
             }});
  tape.on_backward([=](Tape& tape) {
    add_gradient(tape, sum, norm_gradient<T>(tape, sum, gamma, rstd, tape.gradient(y)));
    share_gradient(tape, sum, x, residual);
  });
  return {sum, y};
}

template <class T>
Tensor layernorm_of(Tape& tape, Tensor x, Tensor gamma, Tensor beta, float epsilon) {
  const Tensor y = tape.temporary("layernorm", x.rows, x.cols, x.dtype);
  const Tensor mean = tape.temporary("layernorm.mean", x.rows, 1);
  const Tensor rstd = tape.temporary("layernorm.rstd", x.rows, 1);
  tape.step({.op = "layernorm",
             .reads = {x, gamma, beta},
             .writes = {y, mean, rstd},
             .work = layernorm::work(dtype_of<T>, x.rows, x.cols),
             .run = [=](const Run& run) {
               layernorm::run(const_view<T>(run, x), run.at.as<T>(gamma), run.at.as<T>(beta),
                              epsilon, view<T>(run, y), run.at.f32(mean), run.at.f32(rstd),
                              layernorm::Variant::automatic, run.stream);
             }});
  tape.on_backward([=](Tape& tape) {
    namespace op = layernorm_backward;
    const Tensor dy = tape.gradient(y);
    const Tensor dx = tape.temporary("layernorm.dx", x.rows, x.cols, x.dtype);
    const Tensor dgamma = tape.temporary("layernorm.dgamma", gamma.rows, gamma.cols, gamma.dtype);
    const Tensor dbeta = tape.temporary("layernorm.dbeta", beta.rows, beta.cols, beta.dtype);
    const Tensor workspace =
        tape.workspace(op::workspace_bytes(op::Variant::automatic, x.rows, x.cols));
    tape.step({.op = "layernorm_backward",
               .reads = {dy, x, gamma, mean, rstd},
               .writes = {dx, dgamma, dbeta, workspace},
               .work = op::work(dtype_of<T>, x.rows, x.cols),
               .run = [=](const Run& run) {
                 op::run(const_view<T>(run, dy), const_view<T>(run, x), run.at.as<T>(gamma),
                         run.at.f32(mean), run.at.f32(rstd), view<T>(run, dx), run.at.as<T>(dgamma),
                         run.at.as<T>(dbeta), run.at.at(workspace), op::Variant::automatic,
                         run.stream);
               }});
    add_gradient(tape, gamma, dgamma);
    add_gradient(tape, beta, dbeta);
    add_gradient(tape, x, dx);
  });
  return y;
}

} // namespace

Tensor rmsnorm(Tape& tape, Tensor x, Tensor gamma, float epsilon) {
  return with_element(x.dtype, [&](auto element) {
    return rmsnorm_of<decltype(element)>(tape, x, gamma, epsilon);
  });
}

Normed add_rmsnorm(Tape& tape, Tensor x, Tensor residual, Tensor gamma, float epsilon) {
  return with_element(x.dtype, [&](auto element) {
    return add_rmsnorm_of<decltype(element)>(tape, x, residual, gamma, epsilon);
  });
}

Tensor layernorm(Tape& tape, Tensor x, Tensor gamma, Tensor beta, float epsilon) {
  return with_element(x.dtype, [&](auto element) {
    return layernorm_of<decltype(element)>(tape, x, gamma, beta, epsilon);
  });
}

} // namespace kg::models
