// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Transposing square matrices, one whose sides are no multiples of a tile, and a long one.
#include "perf/measure/moved_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "vendor/transpose/transpose.h"

#include "transpose/transpose.h"

#include <memory>
#include <string>

namespace kg::perf {
namespace {

template <class T>
struct Matrices {
  Matrices(std::int64_t rows, std::int64_t cols, Stream& stream)
      : x(rows * cols, test::Tensor::a, stream), y(static_cast<std::size_t>(rows * cols)) {}
  RandomData<T> x;
  DeviceBuffer<T> y;
};

template <class T, class Run>
Workload workload(std::string variant, std::int64_t rows, std::int64_t cols, Run run) {
  Stream stream;
  auto matrices = std::make_shared<Matrices<T>>(rows, cols, stream);
  const auto source = [=](std::int64_t i) { return i % rows * cols + i / rows; };
  return {[=](Stream& s) { run(*matrices, s); }, [=](Stream& s) { matrices->y.poison(s); },
          [=](Stream& s) { return verify_moved(matrices->x, matrices->y, rows * cols, source, s); },
          std::move(variant)};
}

template <class T>
Case make_case(std::int64_t rows, std::int64_t cols) {
  Case result{Kind::memory, transpose::work(dtype_of<T>, rows, cols), {}};
  result.automatic = transpose::name(transpose::resolved(transpose::Variant::automatic));
  for (const transpose::Variant variant : transpose::kVariants) {
    const std::string name(transpose::name(variant));
    result.variants.push_back(
        {name, false, [=] {
           return workload<T>(name, rows, cols, [=](const auto& m, Stream& s) {
             transpose::run(matrix<const T>(m.x.data(), rows, cols),
                            matrix<T>(m.y.data(), cols, rows), variant, s);
           });
         }});
  }
  for (const std::string_view variant : vendor::transpose_variants(dtype_of<T>)) {
    const std::string name(variant);
    result.variants.push_back({name, true, [=] {
                                 return workload<T>(
                                     name, rows, cols, [=](const auto& m, Stream& s) {
                                       vendor::transpose(name, dtype_of<T>, m.x.data(), rows, cols,
                                                         cols, m.y.data(), rows, s);
                                     });
                               }});
  }
  return result;
}

} // namespace

Operation transpose_operation() {
  Operation operation{
      "transpose", "layout", {Dtype::f32, Dtype::f16, Dtype::i8, Dtype::f64}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"rows256_cols256", true}, {"rows300_cols500"}, {"rows4096_cols16"}};
  else // a small one, and 256 MiB and more
    operation.shapes = {{"rows1024_cols1024"},
                        {"rows8192_cols8192", true},
                        {"rows16384_cols16384"},
                        {"rows10007_cols9973"},
                        {"rows2097152_cols64"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const std::int64_t rows = shape.number("rows");
    const std::int64_t cols = shape.number("cols");
    if (dtype == Dtype::i8) return make_case<std::int8_t>(rows, cols);
    if (dtype == Dtype::f16) return make_case<f16>(rows, cols);
    if (dtype == Dtype::f64) return make_case<double>(rows, cols);
    return make_case<float>(rows, cols);
  };
  return operation;
}

} // namespace kg::perf
