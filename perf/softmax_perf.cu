// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Softmax and log-softmax of rows that fit a warp, a block's shared memory, and neither.
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/oracle_rows.h"
#include "tests/oracle/tolerance.h"
#include "tests/oracle/tolerance_softmax.h"
#include "vendor/softmax/softmax.h"

#include "softmax/softmax.h"

#include <memory>
#include <string>

namespace kg::perf {
namespace {

template <class T>
struct Matrices {
  Matrices(std::int64_t rows, std::int64_t cols, Stream& stream)
      : rows(rows), cols(cols), x(rows * cols, test::Tensor::a, stream),
        y(static_cast<std::size_t>(rows * cols)) {}
  std::int64_t rows;
  std::int64_t cols;
  RandomData<T> x;
  DeviceBuffer<T> y;
};

// What a variant's results are held to: the bound of the correctness tests for its longest chain of
// additions, times slack.
struct Accuracy {
  std::int64_t chain;
  double slack;
};

// A library may add a row up one by one, and oneDNN rounds bf16 results twice (2.8 times the bound,
// seen with 2.6.3). Its accuracy is a matter of softmax_test.cu; here it must have done the work.
Accuracy vendor_accuracy(std::int64_t cols) { return {cols, 4}; }

struct Reference {
  std::vector<double> value;
  std::vector<double> tolerance;
};

Reference reference(softmax::Kind kind, Dtype dtype, const std::vector<double>& x,
                    std::int64_t rows, std::int64_t cols, std::int64_t chain) {
  if (kind == softmax::Kind::softmax) {
    const auto oracle = test::softmax_oracle(x, rows, cols);
    return {oracle.value, test::softmax_tolerances(oracle, dtype, chain)};
  }
  const auto oracle = test::log_softmax_oracle(x, rows, cols);
  return {oracle.value, test::log_softmax_tolerances(oracle, dtype, chain)};
}

// Whole rows; of large matrices some.
template <class T>
std::string verify(softmax::Kind kind, const Matrices<T>& m, Accuracy accuracy, Stream& stream) {
  for (const Window window : windows(m.rows * m.cols, 1 << 17, m.cols)) {
    const std::int64_t rows = window.count / m.cols;
    Reference right = reference(kind, dtype_of<T>, m.x.values(window.first, window.count), rows,
                                m.cols, accuracy.chain);
    for (double& bound : right.tolerance) bound *= accuracy.slack;
    const test::Expectation expected{dtype_of<T>, {rows, m.cols}, right.value, right.tolerance};
    const auto comparison = test::compare(observe(m.y, window, stream), expected);
    if (!comparison.passed()) return comparison.text();
  }
  return "";
}

template <class T, class Run>
Workload workload(std::string variant, softmax::Kind kind, std::int64_t rows, std::int64_t cols,
                  Accuracy accuracy, Run run) {
  Stream stream;
  auto matrices = std::make_shared<Matrices<T>>(rows, cols, stream);
  return {[=](Stream& s) { run(*matrices, s); }, [=](Stream& s) { matrices->y.poison(s); },
          [=](Stream& s) { return verify(kind, *matrices, accuracy, s); }, std::move(variant)};
}

template <class T>
Case make_case(softmax::Kind kind, std::int64_t rows, std::int64_t cols) {
  // On the executor shuffles and barriers cost more than the memory.
  Case result{backend == Backend::host ? Kind::sync : Kind::memory,
              softmax::work(dtype_of<T>, rows, cols),
              {}};
  result.automatic = softmax::name(softmax::resolved(softmax::Variant::automatic, cols));
  for (const softmax::Variant variant : softmax::kVariants) {
    if (!softmax::supports(variant, cols)) continue;
    const std::string name(softmax::name(variant));
    result.variants.push_back(
        {name, false,
         [=] {
           return workload<T>(name, kind, rows, cols, {softmax::chain(variant, cols), 1},
                              [=](const Matrices<T>& m, Stream& s) {
                                softmax::run<T>(kind, matrix<const T>(m.x.data(), rows, cols),
                                                matrix<T>(m.y.data(), rows, cols), variant, s);
                              });
         },
         variant != softmax::Variant::naive || is_timed_in_sequence(cols)});
  }
  const auto form = kind == softmax::Kind::softmax ? vendor::SoftmaxKind::softmax
                                                   : vendor::SoftmaxKind::log_softmax;
  for (const std::string_view variant : vendor::softmax_variants(form, dtype_of<T>)) {
    const std::string name(variant);
    result.variants.push_back(
        {name, true, [=] {
           return workload<T>(
               name, kind, rows, cols, vendor_accuracy(cols), [=](const Matrices<T>& m, Stream& s) {
                 vendor::softmax(name, form, dtype_of<T>, m.x.data(), m.y.data(), rows, cols, s);
               });
         }});
  }
  return result;
}

// The word "log" in front, or none.
softmax::Kind kind_of(const Shape& shape) {
  if (!shape.text().starts_with("log_")) return softmax::Kind::softmax;
  shape.word({"log"}); // a token that was asked for
  return softmax::Kind::log_softmax;
}

} // namespace

Operation softmax_operation() {
  Operation operation{"softmax", "softmax", {Dtype::f32, Dtype::f16, Dtype::bf16}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"rows32_cols512", true},
                        {"rows32_cols1000"},
                        {"rows16_cols4096"},
                        {"log_rows32_cols512"},
                        {"log_rows16_cols4096"}};
  else // a small one, and 0.5 GiB of f32 and more
    operation.shapes = {{"rows128_cols1024"},    {"rows131072_cols1024", true},
                        {"rows32768_cols4096"},  {"rows4096_cols32768"},
                        {"rows1024_cols131072"}, {"log_rows32768_cols4096"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const softmax::Kind kind = kind_of(shape);
    const std::int64_t rows = shape.number("rows");
    const std::int64_t cols = shape.number("cols");
    if (dtype == Dtype::f16) return make_case<f16>(kind, rows, cols);
    if (dtype == Dtype::bf16) return make_case<bf16>(kind, rows, cols);
    return make_case<float>(kind, rows, cols);
  };
  return operation;
}

} // namespace kg::perf
