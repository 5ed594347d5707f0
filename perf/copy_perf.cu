// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Copying: one long row, rows with gaps, and rows that no shift aligns.
#include "perf/measure/moved_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "vendor/copy/copy.h"

#include "copy/copy.h"

#include <memory>
#include <string>

namespace kg::perf {
namespace {

// x's rows are `leading` apart, y is packed.
struct Problem {
  std::int64_t rows, cols, leading;
};

template <class T>
struct Matrices {
  Matrices(const Problem& problem, Stream& stream)
      : x(problem.rows * problem.leading, test::Tensor::a, stream),
        y(static_cast<std::size_t>(problem.rows * problem.cols)) {}
  RandomData<T> x;
  DeviceBuffer<T> y;
};

template <class T, class Run>
Workload workload(std::string variant, const Problem& p, Run run) {
  Stream stream;
  auto matrices = std::make_shared<Matrices<T>>(p, stream);
  const auto source = [p](std::int64_t i) { return i / p.cols * p.leading + i % p.cols; };
  return {
      [=](Stream& s) { run(*matrices, s); }, [=](Stream& s) { matrices->y.poison(s); },
      [=](Stream& s) { return verify_moved(matrices->x, matrices->y, p.rows * p.cols, source, s); },
      std::move(variant)};
}

template <class T>
Case make_case(const Problem& p) {
  Case result{Kind::memory, copy::work(dtype_of<T>, p.rows, p.cols), {}};
  result.automatic = copy::name(copy::resolved(copy::Variant::automatic));
  for (const copy::Variant variant : copy::kVariants) {
    const std::string name(copy::name(variant));
    result.variants.push_back({name, false, [=] {
                                 return workload<T>(name, p, [=](const auto& m, Stream& s) {
                                   copy::run(matrix<const T>(m.x.data(), p.rows, p.cols, p.leading),
                                             matrix<T>(m.y.data(), p.rows, p.cols), variant, s);
                                 });
                               }});
  }
  for (const std::string_view variant : vendor::copy_variants(dtype_of<T>, p.leading == p.cols)) {
    const std::string name(variant);
    result.variants.push_back({name, true, [=] {
                                 return workload<T>(name, p, [=](const auto& m, Stream& s) {
                                   vendor::copy(name, dtype_of<T>, m.x.data(), p.rows, p.cols,
                                                p.leading, m.y.data(), p.cols, s);
                                 });
                               }});
  }
  return result;
}

} // namespace

Operation copy_operation() {
  Operation operation{"copy", "layout", {Dtype::f32, Dtype::f16, Dtype::i8, Dtype::f64}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {
        {"rows1_cols262144_ld262144", true}, {"rows256_cols512_ld544"}, {"rows64_cols1000_ld1003"}};
  else // 1 MiB and less, and 512 MiB and more
    operation.shapes = {{"rows1_cols131072_ld131072"},
                        {"rows1_cols268435456_ld268435456", true},
                        {"rows1_cols1073741824_ld1073741824"},
                        {"rows65536_cols4096_ld4160"},
                        {"rows65536_cols4095_ld4099"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const Problem problem{shape.number("rows"), shape.number("cols"), shape.number("ld")};
    if (dtype == Dtype::i8) return make_case<std::int8_t>(problem);
    if (dtype == Dtype::f16) return make_case<f16>(problem);
    if (dtype == Dtype::f64) return make_case<double>(problem);
    return make_case<float>(problem);
  };
  return operation;
}

} // namespace kg::perf
