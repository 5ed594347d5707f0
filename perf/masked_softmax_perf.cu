// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Masked softmax of attention's scores: causal, sequences as long as their rows, and with a byte
// per element; beside the libraries' chain, which has an addend in the place of the mask.
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle_masked_softmax.h"
#include "tests/oracle/tolerance.h"
#include "vendor/masked_softmax/masked_softmax.h"

#include "masked_softmax/masked_softmax.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace kg::perf {
namespace {

using masked_softmax::Form;

constexpr float kScale = 0.125f; // 1 / sqrt(64), a usual head

struct Size {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t queries; // 0: boolean
};

// Three of four kept, in a pattern that no pack repeats.
std::uint8_t keep_at(std::int64_t i) { return i * 7 / 5 % 4 == 0 ? 0 : 1; }

bool kept(const Size& size, std::int64_t i) {
  if (size.queries == 0) return keep_at(i) != 0;
  return i % size.cols <= i / size.cols % size.queries + size.cols - size.queries;
}

template <class T>
struct Matrices {
  Matrices(const Size& size, Stream& stream)
      : x(size.rows * size.cols, test::Tensor::a, stream),
        y(static_cast<std::size_t>(size.rows * size.cols)) {
    std::vector<std::uint8_t> bytes(size.queries == 0 ? y.size() : 0);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = keep_at(static_cast<std::int64_t>(i));
    keep = DeviceBuffer<std::uint8_t>::from_host(bytes, stream);
  }
  RandomData<T> x;
  DeviceBuffer<std::uint8_t> keep;
  DeviceBuffer<T> y;
};

// What a variant's results are held to: the bound of the correctness tests for its longest chain of
// additions, times slack.
struct Accuracy {
  std::int64_t chain;
  double slack;
};

// A library may add a row up one by one, and round its results twice, as with softmax. Its accuracy
// is a matter of masked_softmax_test.cu; here it must have done the work.
Accuracy vendor_accuracy(const Size& size) { return {size.cols, 4}; }

// Whole rows; of large matrices some.
template <class T>
std::string verify(const Size& size, const Matrices<T>& m, Accuracy accuracy, Stream& stream) {
  for (const Window window : windows(size.rows * size.cols, 1 << 17, size.cols)) {
    const std::int64_t rows = window.count / size.cols;
    std::vector<std::uint8_t> keep;
    for (std::int64_t i = window.first; i < window.first + window.count; ++i)
      keep.push_back(kept(size, i) ? 1 : 0);
    const auto oracle = test::masked_softmax_oracle(kScale, m.x.values(window.first, window.count),
                                                    keep, rows, size.cols);
    auto tolerance = test::softmax_tolerances(oracle, dtype_of<T>, accuracy.chain);
    for (double& bound : tolerance) bound *= accuracy.slack;
    const test::Expectation expected{dtype_of<T>, {rows, size.cols}, oracle.value, tolerance};
    const auto comparison = test::compare(observe(m.y, window, stream), expected);
    if (!comparison.passed()) return comparison.text();
  }
  return "";
}

template <class T>
Workload workload(masked_softmax::Variant variant, const Size& size) {
  Stream stream;
  auto m = std::make_shared<Matrices<T>>(size, stream);
  const auto run = [=](Stream& s) {
    const auto mask = size.queries > 0 ? masked_softmax::causal_mask(size.queries)
                                       : masked_softmax::boolean_mask(matrix<const std::uint8_t>(
                                             m->keep.data(), size.rows, size.cols));
    masked_softmax::run<T>(kScale, matrix<const T>(m->x.data(), size.rows, size.cols), mask,
                           matrix<T>(m->y.data(), size.rows, size.cols), variant, s);
  };
  return {run, [=](Stream& s) { m->y.poison(s); },
          [=](Stream& s) {
            return verify(size, *m, {masked_softmax::chain(variant, size.cols), 1}, s);
          },
          std::string(masked_softmax::name(variant))};
}

template <class T>
Workload vendor_workload(const std::string& name, const Size& size) {
  const std::int64_t queries = size.queries == 0 ? size.rows : size.queries;
  const vendor::MaskedSoftmaxProblem problem{dtype_of<T>, kScale, size.rows / queries, queries,
                                             size.cols};
  const T zero = from_float<T>(0.0f);
  const T hidden = from_float<T>(-std::numeric_limits<float>::infinity());
  std::vector<T> values;
  for (std::int64_t i = 0; i < queries * size.cols; ++i)
    values.push_back(kept(size, i) ? zero : hidden);
  Stream stream;
  auto m = std::make_shared<Matrices<T>>(size, stream);
  auto addend = std::make_shared<DeviceBuffer<T>>(DeviceBuffer<T>::from_host(values, stream));
  return {[=](Stream& s) {
            vendor::masked_softmax(name, problem, m->x.data(), addend->data(), m->y.data(), s);
          },
          [=](Stream& s) { m->y.poison(s); },
          [=](Stream& s) { return verify(size, *m, vendor_accuracy(size), s); }, name};
}

template <class T>
Case make_case(const Size& size) {
  // On the executor shuffles and barriers cost more than the memory.
  Case result{backend == Backend::host ? Kind::sync : Kind::memory,
              masked_softmax::work(dtype_of<T>, size.rows, size.cols, size.queries),
              {}};
  result.automatic =
      masked_softmax::name(masked_softmax::resolved(masked_softmax::Variant::automatic, size.cols));
  for (const auto variant : masked_softmax::kVariants)
    if (masked_softmax::supports(variant, size.cols))
      result.variants.push_back({std::string(masked_softmax::name(variant)), false,
                                 [=] { return workload<T>(variant, size); }});
  for (const std::string_view variant : vendor::masked_softmax_variants(dtype_of<T>)) {
    const std::string name(variant);
    result.variants.push_back({name, true, [=] { return vendor_workload<T>(name, size); }});
  }
  return result;
}

} // namespace

Operation masked_softmax_operation() {
  Operation operation{"masked_softmax", "softmax", {Dtype::f32, Dtype::f16, Dtype::bf16}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {
        {"causal_rows512_cols512", true}, {"causal_rows32_cols2048"}, {"boolean_rows32_cols1000"}};
  else // a small one, and 0.5 GiB of f32 and more
    operation.shapes = {{"causal_rows512_cols512"},
                        {"causal_rows131072_cols1024", true},
                        {"causal_rows32768_cols4096"},
                        {"boolean_rows131072_cols1024"},
                        {"boolean_rows16384_cols8192"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const auto form = static_cast<Form>(shape.word({"boolean", "causal"}));
    Size size{shape.number("rows"), shape.number("cols"), 0};
    if (form == Form::causal) size.queries = std::min(size.rows, size.cols);
    if (dtype == Dtype::f16) return make_case<f16>(size);
    if (dtype == Dtype::bf16) return make_case<bf16>(size);
    return make_case<float>(size);
  };
  return operation;
}

} // namespace kg::perf
