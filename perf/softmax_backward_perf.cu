// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients of softmax and log-softmax, of rows that fit a warp, a block's shared memory, and
// neither. y and dy are both normal: to time them and to check them a softmax is not needed.
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle_softmax_backward.h"
#include "tests/oracle/tolerance_softmax.h"
#include "vendor/softmax_backward/softmax_backward.h"

#include "softmax_backward/softmax_backward.h"

#include <memory>
#include <string>

namespace kg::perf {
namespace {

using Form = softmax_backward::Kind;

template <class T>
struct Matrices {
  Matrices(std::int64_t rows, std::int64_t cols, Stream& stream)
      : rows(rows), cols(cols), y(rows * cols, test::Tensor::a, stream),
        dy(rows * cols, test::Tensor::b, stream), dx(static_cast<std::size_t>(rows * cols)) {}
  std::int64_t rows;
  std::int64_t cols;
  RandomData<T> y;
  RandomData<T> dy;
  DeviceBuffer<T> dx;
};

// What a variant's results are held to: the bound of the correctness tests for its longest chain of
// additions, times slack.
struct Accuracy {
  std::int64_t chain;
  double slack;
};

// A library may add a row up one by one and round 16-bit results twice. Its accuracy is a matter of
// softmax_backward_test.cu; here it must have done the work.
Accuracy vendor_accuracy(std::int64_t cols) { return {cols, 4}; }

// Whole rows; of large matrices some.
template <class T>
std::string verify(Form form, const Matrices<T>& m, Accuracy accuracy, Stream& stream) {
  const bool plain = form == Form::softmax;
  const auto oracle_of = plain ? test::softmax_backward_oracle : test::log_softmax_backward_oracle;
  const auto bound =
      plain ? test::softmax_backward_f32_tolerance : test::log_softmax_backward_f32_tolerance;
  for (const Window window : windows(m.rows * m.cols, 1 << 17, m.cols)) {
    const std::int64_t rows = window.count / m.cols;
    const auto oracle = oracle_of(m.y.values(window.first, window.count),
                                  m.dy.values(window.first, window.count), rows, m.cols);
    auto tolerance = test::softmax_backward_tolerances(oracle, dtype_of<T>, accuracy.chain, bound);
    for (double& each : tolerance) each *= accuracy.slack;
    const test::Expectation expected{dtype_of<T>, {rows, m.cols}, oracle.value, tolerance};
    const auto comparison = test::compare(observe(m.dx, window, stream), expected);
    if (!comparison.passed()) return comparison.text();
  }
  return "";
}

template <class T, class Run>
Workload workload(std::string variant, Form form, std::int64_t rows, std::int64_t cols,
                  Accuracy accuracy, Run run) {
  Stream stream;
  auto matrices = std::make_shared<Matrices<T>>(rows, cols, stream);
  return {[=](Stream& s) { run(*matrices, s); }, [=](Stream& s) { matrices->dx.poison(s); },
          [=](Stream& s) { return verify(form, *matrices, accuracy, s); }, std::move(variant)};
}

template <class T>
Case make_case(Form form, std::int64_t rows, std::int64_t cols) {
  // On the executor shuffles and barriers cost more than the memory.
  Case result{backend == Backend::host ? Kind::sync : Kind::memory,
              softmax_backward::work(dtype_of<T>, rows, cols),
              {}};
  result.automatic = softmax_backward::name(
      softmax_backward::resolved(softmax_backward::Variant::automatic, cols));
  for (const auto variant : softmax_backward::kVariants) {
    if (!softmax_backward::supports(variant, cols)) continue;
    const std::string name(softmax_backward::name(variant));
    result.variants.push_back(
        {name, false, [=] {
           return workload<T>(name, form, rows, cols, {softmax_backward::chain(variant, cols), 1},
                              [=](const Matrices<T>& m, Stream& s) {
                                softmax_backward::run<T>(
                                    form, matrix<const T>(m.y.data(), rows, cols),
                                    matrix<const T>(m.dy.data(), rows, cols),
                                    matrix<T>(m.dx.data(), rows, cols), variant, s);
                              });
         }});
  }
  const auto kind =
      form == Form::softmax ? vendor::SoftmaxKind::softmax : vendor::SoftmaxKind::log_softmax;
  for (const std::string_view variant : vendor::softmax_backward_variants(kind, dtype_of<T>)) {
    const std::string name(variant);
    result.variants.push_back({name, true, [=] {
                                 return workload<T>(name, form, rows, cols, vendor_accuracy(cols),
                                                    [=](const Matrices<T>& m, Stream& s) {
                                                      vendor::softmax_backward(
                                                          name, kind, dtype_of<T>, m.y.data(),
                                                          m.dy.data(), m.dx.data(), rows, cols, s);
                                                    });
                               }});
  }
  return result;
}

// The word "log" in front, or none.
Form form_of(const Shape& shape) {
  if (!shape.text().starts_with("log_")) return Form::softmax;
  shape.word({"log"}); // a token that was asked for
  return Form::log_softmax;
}

} // namespace

Operation softmax_backward_operation() {
  Operation operation{"softmax_backward", "softmax", {Dtype::f32, Dtype::f16, Dtype::bf16}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"rows32_cols512", true}, {"rows16_cols4096"}, {"log_rows32_cols1000"}};
  else // a small one, and 0.75 GiB of f32 and more
    operation.shapes = {{"rows128_cols1024"},
                        {"rows65536_cols1024", true},
                        {"rows16384_cols4096"},
                        {"rows2048_cols32768"},
                        {"log_rows16384_cols4096"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const Form form = form_of(shape);
    const std::int64_t rows = shape.number("rows");
    const std::int64_t cols = shape.number("cols");
    if (dtype == Dtype::f16) return make_case<f16>(form, rows, cols);
    if (dtype == Dtype::bf16) return make_case<bf16>(form, rows, cols);
    return make_case<float>(form, rows, cols);
  };
  return operation;
}

} // namespace kg::perf
