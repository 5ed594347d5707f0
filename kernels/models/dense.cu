// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Parameters, dense layers and the sum of gradients.
#include "models/layers.h"

#include "bias_gelu/bias_gelu.h"
#include "bias_gelu_backward/bias_gelu_backward.h"
#include "elementwise/elementwise.h"
#include "gated_activation/gated_activation.h"
#include "gated_activation_backward/gated_activation_backward.h"
#include "gemm/gemm.h"
#include "runtime/error.h"

#include <utility>

namespace kg::models {
namespace {

using gemm::Transpose;

// C = op(A) op(B), plus a bias of C's columns, and the sums of op(A)'s rows where `row_sums` are
// asked for.
struct Product {
  Tensor a;
  Transpose transpose_a;
  Tensor b;
  Transpose transpose_b;
  Tensor c;
  Tensor bias = {};
  Tensor row_sums = {};
};

gemm::Problem problem_of(const Product& p, const Addresses& at) {
  gemm::Problem problem;
  problem.transpose_a = p.transpose_a;
  problem.transpose_b = p.transpose_b;
  problem.m = p.c.rows;
  problem.n = p.c.cols;
  problem.k = p.transpose_a == Transpose::yes ? p.a.rows : p.a.cols;
  problem.a = at.f32(p.a);
  problem.lda = p.a.cols;
  problem.b = at.f32(p.b);
  problem.ldb = p.b.cols;
  problem.c = at.f32(p.c);
  problem.ldc = p.c.cols;
  if (p.bias.exists()) {
    problem.epilogue = gemm::Epilogue::bias;
    problem.bias = at.f32(p.bias);
  }
  if (p.row_sums.exists()) {
    problem.bias_gradient = gemm::BiasGradient::of_a;
    problem.dbias = at.f32(p.row_sums);
  }
  return problem;
}

void multiply(Tape& tape, const Product& product) {
  const gemm::Problem sketch = problem_of(product, tape.unplaced());
  const Work work = gemm::work(sketch);
  const Tensor workspace = tape.workspace(gemm::workspace_bytes(sketch, gemm::Variant::automatic));
  const auto run = [product, workspace](const Run& run) {
    gemm::Problem problem = problem_of(product, run.at);
    problem.workspace = run.at.at(workspace);
    gemm::run(problem, gemm::Variant::automatic, run.stream);
  };
  tape.step({.op = "gemm",
             .reads = {product.a, product.b, product.bias},
             .writes = {product.c, product.row_sums, workspace},
             .work = work,
             .run = run});
}

Tensor like(Tape& tape, const char* name, Tensor tensor) {
  return tape.temporary(name, tensor.rows, tensor.cols);
}

} // namespace

Tensor weight(Tape& tape, std::vector<Part> parts, std::int64_t inputs, double spread) {
  std::int64_t rows = 0;
  for (const Part& part : parts) rows += part.rows;
  return tape.parameter({.value = {-1, rows, inputs},
                         .parts = std::move(parts),
                         .inner = {inputs},
                         .spread = spread});
}

Tensor vector(Tape& tape, std::vector<Part> parts, double centre, double spread) {
  std::int64_t rows = 0;
  for (const Part& part : parts) rows += part.rows;
  return tape.parameter(
      {.value = {-1, rows, 1}, .parts = std::move(parts), .centre = centre, .spread = spread});
}

void add_gradient(Tape& tape, Tensor of, Tensor contribution) {
  const Tensor before = tape.gradient(of);
  if (before.exists())
    tape.step({.op = "elementwise",
               .reads = {before, contribution},
               .writes = {contribution},
               .work = elementwise::work(Dtype::f32, of.size()),
               .run = [=](const Run& run) {
                 elementwise::run(elementwise::Op::add, run.at.f32(before),
                                  run.at.f32(contribution), run.at.f32(contribution), of.size(),
                                  elementwise::Variant::automatic, run.stream);
               }});
  tape.set_gradient(of, contribution);
}

Tensor linear(Tape& tape, Tensor x, Tensor weight, Tensor bias) {
  require(x.cols == weight.cols, tape.name(weight) + ": it takes " + std::to_string(weight.cols) +
                                     " features and gets " + std::to_string(x.cols));
  const Tensor y = tape.temporary("linear", x.rows, weight.rows);
  multiply(tape, {x, Transpose::no, weight, Transpose::yes, y, bias});
  tape.on_backward([=](Tape& tape) {
    const Tensor dy = tape.gradient(y);
    if (tape.differentiable(x)) {
      const Tensor dx = like(tape, "linear.dx", x);
      multiply(tape, {dy, Transpose::no, weight, Transpose::no, dx});
      add_gradient(tape, x, dx);
    }
    const Tensor dweight = like(tape, "linear.dweight", weight);
    const Tensor dbias = bias.exists() ? like(tape, "linear.dbias", bias) : Tensor{};
    multiply(tape, {dy, Transpose::yes, x, Transpose::no, dweight, {}, dbias});
    add_gradient(tape, weight, dweight);
    if (bias.exists()) add_gradient(tape, bias, dbias);
  });
  return y;
}

Tensor bias_gelu(Tape& tape, Tensor x, Tensor bias) {
  using bias_gelu::Form;
  const Tensor y = like(tape, "gelu", x);
  tape.step({.op = "bias_gelu",
             .reads = {x, bias},
             .writes = {y},
             .work = kg::bias_gelu::work(Dtype::f32, x.rows, x.cols),
             .run = [=](const Run& run) {
               kg::bias_gelu::run(Form::erf, run.at.f32(x), run.at.f32(bias), run.at.f32(y), x.rows,
                                  x.cols, kg::bias_gelu::Variant::automatic, run.stream);
             }});
  tape.on_backward([=](Tape& tape) {
    namespace op = kg::bias_gelu_backward;
    const Tensor dy = tape.gradient(y);
    const Tensor dx = like(tape, "gelu.dx", x);
    const Tensor dbias = like(tape, "gelu.dbias", bias);
    const Tensor workspace =
        tape.workspace(op::workspace_bytes<float>(op::Variant::automatic, x.rows, x.cols));
    tape.step({.op = "bias_gelu_backward",
               .reads = {x, bias, dy},
               .writes = {dx, dbias, workspace},
               .work = op::work(Dtype::f32, x.rows, x.cols),
               .run = [=](const Run& run) {
                 const op::Arrays<float> arrays{run.at.f32(x), run.at.f32(bias), run.at.f32(dy),
                                                run.at.f32(dx), run.at.f32(dbias)};
                 op::run(Form::erf, arrays, run.at.at(workspace), x.rows, x.cols,
                         op::Variant::automatic, run.stream);
               }});
    add_gradient(tape, x, dx);
    add_gradient(tape, bias, dbias);
  });
  return y;
}

Tensor swiglu(Tape& tape, Tensor x) {
  using gated_activation::Form;
  const std::int64_t cols = x.cols / 2;
  const Tensor y = tape.temporary("swiglu", x.rows, cols);
  tape.step({.op = "gated_activation",
             .reads = {x},
             .writes = {y},
             .work = gated_activation::work(Dtype::f32, x.rows, cols),
             .run = [=](const Run& run) {
               gated_activation::run(Form::swiglu, run.at.f32(x), run.at.f32(y), x.rows, cols,
                                     gated_activation::Variant::automatic, run.stream);
             }});
  tape.on_backward([=](Tape& tape) {
    namespace op = gated_activation_backward;
    const Tensor dy = tape.gradient(y);
    const Tensor dx = like(tape, "swiglu.dx", x);
    tape.step({.op = "gated_activation_backward",
               .reads = {x, dy},
               .writes = {dx},
               .work = op::work(Dtype::f32, x.rows, cols),
               .run = [=](const Run& run) {
                 op::run(Form::swiglu, run.at.f32(x), run.at.f32(dy), run.at.f32(dx), x.rows, cols,
                         op::Variant::automatic, run.stream);
               }});
    add_gradient(tape, x, dx);
  });
  return y;
}

} // namespace kg::models
