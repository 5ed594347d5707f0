// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Summing a matrix over everything, along its rows and along its columns.
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/support/compare.h"
#include "tests/support/oracle.h"
#include "tests/support/tolerance.h"
#include "vendor/reduction/reduction.h"

#include "reduction/reduction.h"

#include <algorithm>
#include <memory>
#include <string>

namespace kg::perf {
namespace {

using reduction::Axis;

struct Sum {
  Sum(Axis axis, std::int64_t rows, std::int64_t cols, reduction::Variant variant, Stream& stream)
      : axis(axis), rows(rows), cols(cols), x(rows * cols, test::Tensor::a, stream),
        out(static_cast<std::size_t>(reduction::result_count(axis, rows, cols))),
        workspace(reduction::workspace_bytes(axis, rows, cols, variant)) {}
  Axis axis;
  std::int64_t rows;
  std::int64_t cols;
  RandomData<float> x;
  DeviceBuffer<float> out;
  DeviceBuffer<unsigned char> workspace;
};

// Every result up to 2^24 elements. Beyond, the first rows (axis rows); the other axes would need a
// pass over all of x in fp64, and are checked at smaller sizes only. The bound is that of the
// longest chain any variant or vendor may have.
std::string verify(const Sum& sum, Stream& stream) {
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  std::int64_t rows = sum.rows;
  if (sum.rows * sum.cols > kMost) {
    if (sum.axis != Axis::rows) return "";
    rows = std::max<std::int64_t>(kMost / sum.cols, 1);
  }
  const std::vector<double> x = sum.x.values(0, rows * sum.cols);
  const test::SumOracle oracle =
      sum.axis == Axis::all    ? test::row_sums_oracle(x, 1, rows * sum.cols)
      : sum.axis == Axis::rows ? test::row_sums_oracle(x, rows, sum.cols)
                               : test::column_sums_oracle(x, rows, sum.cols);
  const auto results = static_cast<std::int64_t>(oracle.value.size());
  const std::int64_t length = rows * sum.cols / results;
  const std::vector<double> tolerance = test::sum_f32_tolerances(oracle, length, 1);
  const auto comparison = test::compare(observe(sum.out, {0, results}, stream),
                                        {Dtype::f32, {results}, oracle.value, tolerance});
  return comparison.passed() ? "" : comparison.text();
}

template <class Run>
Workload workload(std::string name, Axis axis, std::int64_t rows, std::int64_t cols,
                  reduction::Variant variant, Run run) {
  Stream stream;
  auto sum = std::make_shared<Sum>(axis, rows, cols, variant, stream);
  return {[=](Stream& s) { run(*sum, s); }, [=](Stream& s) { sum->out.poison(s); },
          [=](Stream& s) { return verify(*sum, s); }, std::move(name)};
}

Case make_case(Axis axis, std::int64_t rows, std::int64_t cols) {
  // On the executor a warp's shuffles cost more than its loads; column sums have none.
  Case result{
      axis == Axis::columns ? Kind::memory : Kind::sync, reduction::work(axis, rows, cols), {}};
  for (const reduction::Variant variant : reduction::kVariants) {
    const std::string name(reduction::name(variant));
    result.variants.push_back(
        {name, false, [=] {
           return workload(name, axis, rows, cols, variant, [=](const Sum& s, Stream& stream) {
             reduction::run(axis, kg::matrix<const float>(s.x.data(), rows, cols), s.out.data(),
                            s.workspace.data(), variant, stream);
           });
         }});
  }
  const auto theirs = static_cast<vendor::SumAxis>(axis);
  for (const std::string_view variant : vendor::reduction_variants(theirs)) {
    const std::string name(variant);
    result.variants.push_back({name, true, [=] {
                                 return workload(name, axis, rows, cols, reduction::Variant::naive,
                                                 [=](const Sum& s, Stream& stream) {
                                                   vendor::reduction(name, theirs, s.x.data(), rows,
                                                                     cols, s.out.data(), stream);
                                                 });
                               }});
  }
  return result;
}

} // namespace

Operation reduction_operation() {
  Operation operation{"reduction", "reduction", {Dtype::f32}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"all_r1024_c512", true}, {"rows_r512_c1024"}, {"columns_r1024_c512"}};
  else // 1 GiB at 2^28 elements
    operation.shapes = {{"all_r1_c65536"},         {"all_r16384_c16384", true},
                        {"rows_r16384_c16384"},    {"rows_r1048576_c256"},
                        {"columns_r16384_c16384"}, {"columns_r1048576_c256"}};
  operation.make = [](Dtype, const Shape& shape) {
    return make_case(reduction::kAxes[shape.word({"all", "rows", "columns"})], shape.number("r"),
                     shape.number("c"));
  };
  return operation;
}

} // namespace kg::perf
