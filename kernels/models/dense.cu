// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Parameters, dense layers and the sum of gradients.
#include "models/layers.h"

#include "models/element.h"
#include "ops/bias_gelu/bias_gelu.h"
#include "ops/bias_gelu_backward/bias_gelu_backward.h"
#include "ops/elementwise/elementwise.h"
#include "ops/gated_activation/gated_activation.h"
#include "ops/gated_activation_backward/gated_activation_backward.h"
#include "ops/gemm/gemm.h"
#include "runtime/error.h"

#include <utility>

namespace kg::models {
namespace {

using gemm::Transpose;

// C = op(A) op(B) + bias, where the optional bias has one element per column of C. If `row_sums`
// exists, it receives the sums of op(A)'s rows.
struct Product {
  Tensor a;
  Transpose transpose_a;
  Tensor b;
  Transpose transpose_b;
  Tensor c;
  Tensor bias = {};
  Tensor row_sums = {};
};

template <class T>
gemm::BasicProblem<T> problem_of(const Product& p, const Addresses& at) {
  gemm::BasicProblem<T> problem;
  problem.transpose_a = p.transpose_a;
  problem.transpose_b = p.transpose_b;
  problem.m = p.c.rows;
  problem.n = p.c.cols;
  problem.k = p.transpose_a == Transpose::yes ? p.a.rows : p.a.cols;
  problem.a = at.as<T>(p.a);
  problem.lda = p.a.cols;
  problem.b = at.as<T>(p.b);
  problem.ldb = p.b.cols;
  problem.c = at.as<T>(p.c);
  problem.ldc = p.c.cols;
  if (p.bias.exists()) {
    problem.epilogue = gemm::Epilogue::bias;
    problem.bias = at.as<T>(p.bias);
  }
  if (p.row_sums.exists()) {
    problem.bias_gradient = gemm::BiasGradient::of_a;
    problem.dbias = at.as<T>(p.row_sums);
  }
  return problem;
}

template <class T>
void multiply(Tape& tape, const Product& product) {
  const gemm::BasicProblem<T> sketch = problem_of<T>(product, tape.unplaced());
  const Work work = gemm::work(sketch);
  const Tensor workspace = tape.workspace(gemm::workspace_bytes(sketch, gemm::Variant::automatic));
  const auto run = [product, workspace](const Run& run) {
    gemm::BasicProblem<T> problem = problem_of<T>(product, run.at);
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
  return tape.temporary(name, tensor.rows, tensor.cols, tensor.dtype);
}

template <class T>
void add_gradient_of(Tape& tape, Tensor of, Tensor contribution) {
  const Tensor before = tape.gradient(of);
  if (before.exists())
    tape.step({.op = "elementwise",
               .reads = {before, contribution},
               .writes = {contribution},
               .work = elementwise::work(dtype_of<T>, of.size()),
               .run = [=](const Run& run) {
                 elementwise::run(elementwise::Op::add, run.at.as<T>(before),
                                  run.at.as<T>(contribution), run.at.as<T>(contribution), of.size(),
                                  elementwise::Variant::automatic, run.stream);
               }});
  tape.set_gradient(of, contribution);
}

template <class T>
Tensor linear_of(Tape& tape, Tensor x, Tensor weight, Tensor bias) {
  require(x.cols == weight.cols, tape.name(weight) + ": it takes " + std::to_string(weight.cols) +
                                     " features and gets " + std::to_string(x.cols));
  const Tensor y = tape.temporary("linear", x.rows, weight.rows, x.dtype);
  multiply<T>(tape, {x, Transpose::no, weight, Transpose::yes, y, bias});
  tape.on_backward([=](Tape& tape) {
    const Tensor dy = tape.gradient(y);
    if (tape.differentiable(x)) {
      const Tensor dx = like(tape, "linear.dx", x);
      multiply<T>(tape, {dy, Transpose::no, weight, Transpose::no, dx});
      add_gradient(tape, x, dx);
    }
    const Tensor dweight = like(tape, "linear.dweight", weight);
    const Tensor dbias = bias.exists() ? like(tape, "linear.dbias", bias) : Tensor{};
    multiply<T>(tape, {dy, Transpose::yes, x, Transpose::no, dweight, {}, dbias});
    add_gradient(tape, weight, dweight);
    if (bias.exists()) add_gradient(tape, bias, dbias);
  });
  return y;
}

template <class T>
Tensor bias_gelu_of(Tape& tape, Tensor x, Tensor bias, kg::bias_gelu::Form form) {
  const Tensor y = like(tape, "gelu", x);
  tape.step({.op = "bias_gelu",
             .reads = {x, bias},
             .writes = {y},
             .work = kg::bias_gelu::work(dtype_of<T>, x.rows, x.cols),
             .run = [=](const Run& run) {
               kg::bias_gelu::run(form, run.at.as<T>(x), run.at.as<T>(bias), run.at.as<T>(y),
                                  x.rows, x.cols, kg::bias_gelu::Variant::automatic, run.stream);
             }});
  tape.on_backward([=](Tape& tape) {
    namespace op = kg::bias_gelu_backward;
    const Tensor dy = tape.gradient(y);
    const Tensor dx = like(tape, "gelu.dx", x);
    const Tensor dbias = like(tape, "gelu.dbias", bias);
    const Tensor workspace =
        tape.workspace(op::workspace_bytes<T>(op::Variant::automatic, x.rows, x.cols));
    tape.step({.op = "bias_gelu_backward",
               .reads = {x, bias, dy},
               .writes = {dx, dbias, workspace},
               .work = op::work(dtype_of<T>, x.rows, x.cols),
               .run = [=](const Run& run) {
                 const op::Arrays<T> arrays{run.at.as<T>(x), run.at.as<T>(bias), run.at.as<T>(dy),
                                            run.at.as<T>(dx), run.at.as<T>(dbias)};
                 op::run(form, arrays, run.at.at(workspace), x.rows, x.cols, op::Variant::automatic,
                         run.stream);
               }});
    add_gradient(tape, x, dx);
    add_gradient(tape, bias, dbias);
  });
  return y;
}

template <class T>
Tensor swiglu_of(Tape& tape, Tensor x) {
  using gated_activation::Form;
  const std::int64_t cols = x.cols / 2;
  const Tensor y = tape.temporary("swiglu", x.rows, cols, x.dtype);
  tape.step({.op = "gated_activation",
             .reads = {x},
             .writes = {y},
             .work = gated_activation::work(dtype_of<T>, x.rows, cols),
             .run = [=](const Run& run) {
               gated_activation::run(Form::swiglu, run.at.as<T>(x), run.at.as<T>(y), x.rows, cols,
                                     gated_activation::Variant::automatic, run.stream);
             }});
  tape.on_backward([=](Tape& tape) {
    namespace op = gated_activation_backward;
    const Tensor dy = tape.gradient(y);
    const Tensor dx = like(tape, "swiglu.dx", x);
    tape.step({.op = "gated_activation_backward",
               .reads = {x, dy},
               .writes = {dx},
               .work = op::work(dtype_of<T>, x.rows, cols),
               .run = [=](const Run& run) {
                 op::run(Form::swiglu, run.at.as<T>(x), run.at.as<T>(dy), run.at.as<T>(dx), x.rows,
                         cols, op::Variant::automatic, run.stream);
               }});
    add_gradient(tape, x, dx);
  });
  return y;
}

template <class T>
Tensor add_of(Tape& tape, Tensor a, Tensor b) {
  const Tensor sum = like(tape, "sum", a);
  tape.step({.op = "elementwise",
             .reads = {a, b},
             .writes = {sum},
             .work = elementwise::work(dtype_of<T>, a.size()),
             .run = [=](const Run& run) {
               elementwise::run(elementwise::Op::add, run.at.as<T>(a), run.at.as<T>(b),
                                run.at.as<T>(sum), a.size(), elementwise::Variant::automatic,
                                run.stream);
             }});
  tape.on_backward([=](Tape& tape) { share_gradient(tape, sum, a, b); });
  return sum;
}

} // namespace

Tensor weight(Tape& tape, std::vector<Part> parts, std::int64_t inputs, double spread,
              Dtype dtype) {
  std::int64_t rows = 0;
  for (const Part& part : parts) rows += part.rows;
  return tape.parameter({.value = {-1, rows, inputs, dtype},
                         .parts = std::move(parts),
                         .inner = {inputs},
                         .spread = spread});
}

Tensor vector(Tape& tape, std::vector<Part> parts, double centre, double spread, Dtype dtype) {
  std::int64_t rows = 0;
  for (const Part& part : parts) rows += part.rows;
  return tape.parameter({.value = {-1, rows, 1, dtype},
                         .parts = std::move(parts),
                         .centre = centre,
                         .spread = spread});
}

void add_gradient(Tape& tape, Tensor of, Tensor contribution) {
  return with_element(of.dtype, [&](auto element) {
    return add_gradient_of<decltype(element)>(tape, of, contribution);
  });
}

void share_gradient(Tape& tape, Tensor sum, Tensor a, Tensor b) {
  for (const Tensor& term : {a, b}) {
    require(!tape.gradient(term).exists(), tape.name(term) + ": it has a gradient before its sum");
    tape.set_gradient(term, tape.gradient(sum));
  }
}

Tensor add(Tape& tape, Tensor a, Tensor b) {
  require(a.rows == b.rows && a.cols == b.cols,
          tape.name(a) + " and " + tape.name(b) + ": the terms of a sum have different shapes");
  return with_element(a.dtype, [&](auto element) { return add_of<decltype(element)>(tape, a, b); });
}

Tensor linear(Tape& tape, Tensor x, Tensor weight, Tensor bias) {
  return with_element(
      x.dtype, [&](auto element) { return linear_of<decltype(element)>(tape, x, weight, bias); });
}

Tensor bias_gelu(Tape& tape, Tensor x, Tensor bias, kg::bias_gelu::Form form) {
  return with_element(
      x.dtype, [&](auto element) { return bias_gelu_of<decltype(element)>(tape, x, bias, form); });
}

Tensor swiglu(Tape& tape, Tensor x) {
  return with_element(x.dtype, [&](auto element) { return swiglu_of<decltype(element)>(tape, x); });
}

} // namespace kg::models
