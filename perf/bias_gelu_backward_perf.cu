// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of bias and gelu as a feed-forward block has them, beside the libraries' chains of
// three operations: far beyond the caches, at a size where the launches count, and with rows that
// end within packs.
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle_bias_gelu_backward.h"
#include "vendor/bias_gelu_backward/bias_gelu_backward.h"

#include "bias_gelu_backward/bias_gelu_backward.h"

#include <memory>
#include <span>
#include <string>

namespace kg::perf {
namespace {

using bias_gelu_backward::Form;
using bias_gelu_backward::Variant;

template <class T>
struct Gradients {
  Gradients(std::int64_t rows, std::int64_t cols, std::size_t workspace_bytes, Stream& stream)
      : x(rows * cols, test::Tensor::a, stream), bias(cols, test::Tensor::b, stream),
        dy(rows * cols, test::Tensor::c, stream), dx(static_cast<std::size_t>(rows * cols)),
        dbias(static_cast<std::size_t>(cols)), workspace(workspace_bytes) {}
  RandomData<T> x;
  RandomData<T> bias;
  RandomData<T> dy;
  DeviceBuffer<T> dx;
  DeviceBuffer<T> dbias;
  DeviceBuffer<unsigned char> workspace;
};

test::UnaryOp oracle_op(Form form) {
  return form == Form::erf ? test::UnaryOp::gelu : test::UnaryOp::gelu_tanh;
}

using Bounds = test::BiasGeluGradients (*)(test::UnaryOp, Dtype, std::span<const double> sums,
                                           std::span<const double> dy,
                                           const test::BiasGeluGradients& gradients);

// A library's accuracy is a matter of bias_gelu_backward_test.cu; here it must have done the work.
test::BiasGeluGradients vendor_bounds(test::UnaryOp op, Dtype dtype, std::span<const double> sums,
                                      std::span<const double> dy,
                                      const test::BiasGeluGradients& gradients) {
  constexpr double kSlack = 64;
  auto bounds = test::library_bias_gelu_backward_tolerances(op, dtype, sums, dy, gradients);
  for (double& bound : bounds.dx) bound *= kSlack;
  for (double& bound : bounds.dbias) bound *= kSlack;
  return bounds;
}

// dx through windows of whole rows.
template <class T>
std::string verify_dx(const Gradients<T>& data, Form form, std::int64_t rows, std::int64_t cols,
                      Bounds bounds_of, Stream& stream) {
  const test::UnaryOp op = oracle_op(form);
  const std::vector<double> bias = data.bias.values(0, cols);
  for (const Window window : windows(rows * cols, 1 << 16, cols)) {
    const std::vector<double> sums =
        test::bias_sums(data.x.values(window.first, window.count), bias);
    const std::vector<double> dy = data.dy.values(window.first, window.count);
    const auto right = test::bias_gelu_gradients_oracle(op, sums, dy, cols);
    const auto bounds = bounds_of(op, dtype_of<T>, sums, dy, right);
    const auto dx = test::compare(observe(data.dx, window, stream),
                                  {dtype_of<T>, {window.count}, right.dx, bounds.dx});
    if (!dx.passed()) return dx.text();
  }
  return "";
}

// dbias of a few columns, their ends among them.
template <class T>
std::string verify_dbias(const Gradients<T>& data, Form form, std::int64_t rows, std::int64_t cols,
                         Bounds bounds_of, Stream& stream) {
  const test::UnaryOp op = oracle_op(form);
  for (const std::int64_t column : {std::int64_t{0}, cols / 3, cols / 3 * 2, cols - 1}) {
    std::vector<double> x, dy;
    for (std::int64_t row = 0; row < rows; ++row) {
      x.push_back(test::to_double(data.x.at(row * cols + column)));
      dy.push_back(test::to_double(data.dy.at(row * cols + column)));
    }
    const std::vector<double> sums = test::bias_sums(x, data.bias.values(column, 1));
    const auto right = test::bias_gelu_gradients_oracle(op, sums, dy, 1);
    const auto bounds = bounds_of(op, dtype_of<T>, sums, dy, right);
    const auto dbias = test::compare(observe(data.dbias, {column, 1}, stream),
                                     {dtype_of<T>, {1}, right.dbias, bounds.dbias});
    if (!dbias.passed()) return "dbias, column " + std::to_string(column) + ": " + dbias.text();
  }
  return "";
}

template <class T, class Run>
Workload workload(std::string variant, Form form, std::int64_t rows, std::int64_t cols,
                  std::size_t workspace_bytes, Bounds bounds, Run run) {
  Stream stream;
  auto data = std::make_shared<Gradients<T>>(rows, cols, workspace_bytes, stream);
  return {[=](Stream& s) { run(*data, s); },
          [=](Stream& s) {
            data->dx.poison(s);
            data->dbias.poison(s);
          },
          [=](Stream& s) {
            const std::string wrong = verify_dx(*data, form, rows, cols, bounds, s);
            return wrong.empty() ? verify_dbias(*data, form, rows, cols, bounds, s) : wrong;
          },
          std::move(variant)};
}

template <class T>
Case make_case(Form form, std::int64_t rows, std::int64_t cols) {
  Case result{Kind::memory, bias_gelu_backward::work(dtype_of<T>, rows, cols), {}};
  result.automatic = bias_gelu_backward::name(
      bias_gelu_backward::resolved(bias_gelu_backward::Variant::automatic));
  for (const Variant variant : bias_gelu_backward::kVariants) {
    const std::string name(bias_gelu_backward::name(variant));
    const auto run = [=](const Gradients<T>& g, Stream& s) {
      bias_gelu_backward::run<T>(
          form, {g.x.data(), g.bias.data(), g.dy.data(), g.dx.data(), g.dbias.data()},
          g.workspace.data(), rows, cols, variant, s);
    };
    result.variants.push_back({name, false,
                               [=] {
                                 return workload<T>(
                                     name, form, rows, cols,
                                     bias_gelu_backward::workspace_bytes<T>(variant, rows, cols),
                                     test::bias_gelu_backward_tolerances, run);
                               },
                               variant != Variant::naive || is_timed_in_sequence(rows)});
  }
  const vendor::Gelu theirs = form == Form::erf ? vendor::Gelu::erf : vendor::Gelu::tanh;
  for (const std::string_view variant : vendor::bias_gelu_backward_variants(theirs, dtype_of<T>)) {
    const std::string name(variant);
    const auto run = [=](const Gradients<T>& g, Stream& s) {
      vendor::bias_gelu_backward(
          name, theirs, dtype_of<T>,
          {g.x.data(), g.bias.data(), g.dy.data(), g.dx.data(), g.dbias.data()}, rows, cols, s);
    };
    result.variants.push_back(
        {name, true, [=] { return workload<T>(name, form, rows, cols, 0, vendor_bounds, run); }});
  }
  return result;
}

} // namespace

Operation bias_gelu_backward_operation() {
  Operation operation{
      "bias_gelu_backward", "elementwise", {Dtype::f32, Dtype::f16, Dtype::bf16}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"erf_rows128_cols512", true}, {"tanh_rows128_cols512"}};
  else // 768 MiB and more of traffic in all but the first
    operation.shapes = {{"erf_rows512_cols3072"},
                        {"erf_rows65536_cols4096", true},
                        {"tanh_rows65536_cols4096"},
                        {"erf_rows1048577_cols197"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const Form form = bias_gelu_backward::kForms[shape.word({"erf", "tanh"})];
    const std::int64_t rows = shape.number("rows");
    const std::int64_t cols = shape.number("cols");
    if (dtype == Dtype::f16) return make_case<f16>(form, rows, cols);
    if (dtype == Dtype::bf16) return make_case<bf16>(form, rows, cols);
    return make_case<float>(form, rows, cols);
  };
  return operation;
}

} // namespace kg::perf
