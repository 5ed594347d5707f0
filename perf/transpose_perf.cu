// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Transposing square matrices, one whose sides are no multiples of a tile, and a long one.
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/support/compare.h"
#include "vendor/transpose/transpose.h"

#include "transpose/transpose.h"

#include <memory>
#include <string>

namespace kg::perf {
namespace {

struct Matrices {
  Matrices(std::int64_t rows, std::int64_t cols, Stream& stream)
      : rows(rows), cols(cols), x(rows * cols, test::Tensor::a, stream),
        y(static_cast<std::size_t>(rows * cols)) {}
  std::int64_t rows;
  std::int64_t cols;
  RandomData<float> x;
  DeviceBuffer<float> y;
};

// Exact; large matrices through windows of the result.
std::string verify(const Matrices& m, Stream& stream) {
  for (const Window window : windows(m.rows * m.cols, 1 << 17)) {
    std::vector<double> expected;
    for (std::int64_t i = window.first; i < window.first + window.count; ++i)
      expected.push_back(static_cast<double>(m.x.at(i % m.rows * m.cols + i / m.rows)));
    const auto comparison = test::compare(observe(m.y, window, stream),
                                          test::exactly(Dtype::f32, {window.count}, expected));
    if (!comparison.passed()) return comparison.text();
  }
  return "";
}

template <class Run>
Workload workload(std::string variant, std::int64_t rows, std::int64_t cols, Run run) {
  Stream stream;
  auto matrices = std::make_shared<Matrices>(rows, cols, stream);
  return {[=](Stream& s) { run(*matrices, s); }, [=](Stream& s) { matrices->y.poison(s); },
          [=](Stream& s) { return verify(*matrices, s); }, std::move(variant)};
}

Case make_case(std::int64_t rows, std::int64_t cols) {
  Case result{Kind::memory, transpose::work(Dtype::f32, rows, cols), {}};
  for (const transpose::Variant variant : transpose::kVariants) {
    const std::string name(transpose::name(variant));
    result.variants.push_back(
        {name, false, [=] {
           return workload(name, rows, cols, [=](const Matrices& m, Stream& s) {
             transpose::run(matrix<const float>(m.x.data(), rows, cols),
                            matrix<float>(m.y.data(), cols, rows), variant, s);
           });
         }});
  }
  for (const std::string_view variant : vendor::transpose_variants()) {
    const std::string name(variant);
    result.variants.push_back(
        {name, true, [=] {
           return workload(name, rows, cols, [=](const Matrices& m, Stream& s) {
             vendor::transpose(name, m.x.data(), rows, cols, cols, m.y.data(), rows, s);
           });
         }});
  }
  return result;
}

} // namespace

Operation transpose_operation() {
  Operation operation{"transpose", "layout", {Dtype::f32}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"rows256_cols256", true}, {"rows300_cols500"}, {"rows4096_cols16"}};
  else // a small one, and 256 MiB and more
    operation.shapes = {{"rows1024_cols1024"},
                        {"rows8192_cols8192", true},
                        {"rows16384_cols16384"},
                        {"rows10007_cols9973"},
                        {"rows2097152_cols64"}};
  operation.make = [](Dtype, const Shape& shape) {
    return make_case(shape.number("rows"), shape.number("cols"));
  };
  return operation;
}

} // namespace kg::perf
