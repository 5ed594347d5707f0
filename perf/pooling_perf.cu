// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Pooling that halves an image, that smooths one, and that leaves one number of each plane.
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/tolerance_rows.h"
#include "tests/pooling_problems.h"
#include "vendor/pooling/pooling.h"

#include "pooling/pooling.h"

#include <memory>
#include <string>

namespace kg::perf {
namespace {

using pooling::Problem;

template <class T>
struct Images {
  Images(const Problem& problem, Stream& stream)
      : x(problem.inputs(), test::Tensor::a, stream),
        y(static_cast<std::size_t>(problem.outputs())) {}
  RandomData<T> x;
  DeviceBuffer<T> y;
};

// Whole images; of large batches some.
template <class T>
std::string verify(const Images<T>& images, pooling::Kind kind, const Problem& problem,
                   Stream& stream) {
  const std::int64_t in = problem.inputs() / problem.batch;
  const std::int64_t out = problem.outputs() / problem.batch;
  for (const Window window : windows(problem.outputs(), 1 << 17, out)) {
    Problem part = problem;
    part.batch = window.count / out;
    const auto x = test::x_in_nchw(images.x.values(window.first / out * in, part.inputs()), part);
    const test::Pooling pooling = test::oracle_problem(kind, part);
    const auto oracle = kind == pooling::Kind::max ? test::max_pool_oracle(pooling, x)
                                                   : test::average_pool_oracle(pooling, x);
    const std::int64_t area = problem.vertical.kernel * problem.horizontal.kernel;
    std::vector<double> tolerance(oracle.value.size());
    for (std::size_t i = 0; i < tolerance.size() && kind != pooling::Kind::max; ++i)
      tolerance[i] = test::stored_tolerance(
          dtype_of<T>, oracle.value[i], test::average_pool_f32_tolerance(area, oracle.mean_abs[i]));
    const auto value = test::y_in_layout(oracle.value, part);
    const auto bound = test::y_in_layout(tolerance, part);
    const auto comparison = test::compare(observe(images.y, window, stream),
                                          {dtype_of<T>, {window.count}, value, bound});
    if (!comparison.passed()) return comparison.text();
  }
  return "";
}

template <class T, class Run>
Workload workload(std::string variant, pooling::Kind kind, const Problem& problem, Run run) {
  Stream stream;
  auto images = std::make_shared<Images<T>>(problem, stream);
  return {[=](Stream& s) { run(*images, s); }, [=](Stream& s) { images->y.poison(s); },
          [=](Stream& s) { return verify(*images, kind, problem, s); }, std::move(variant)};
}

template <class T>
Case make_case(pooling::Kind kind, const Problem& problem) {
  Case result{Kind::memory, pooling::work(dtype_of<T>, problem), {}};
  result.automatic = pooling::name(pooling::resolved(pooling::Variant::automatic));
  for (const pooling::Variant variant : pooling::kVariants) {
    const std::string name(pooling::name(variant));
    result.variants.push_back(
        {name, false, [=] {
           return workload<T>(name, kind, problem, [=](const Images<T>& i, Stream& s) {
             pooling::run<T>(kind, problem, i.x.data(), i.y.data(), variant, s);
           });
         }});
  }
  for (const std::string_view variant : vendor::pooling_variants(kind, dtype_of<T>, problem)) {
    const std::string name(variant);
    result.variants.push_back(
        {name, true, [=] {
           return workload<T>(name, kind, problem, [=](const Images<T>& i, Stream& s) {
             vendor::pooling(name, kind, dtype_of<T>, problem, i.x.data(), i.y.data(), s);
           });
         }});
  }
  return result;
}

} // namespace

Operation pooling_operation() {
  Operation operation{"pooling", "pooling", {Dtype::f32, Dtype::f16, Dtype::bf16}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"max_nhwc_n1_c32_h32_w32_k3_s2_p1", true},
                        {"avg_nchw_n1_c8_h32_w32_k3_s1_p1"},
                        {"avg_nhwc_n2_c64_h14_w14_k14_s1_p0"}};
  else // a small one, and 256 MiB of 16-bit elements and more
    operation.shapes = {
        {"max_nhwc_n1_c64_h56_w56_k3_s2_p1"},     {"max_nhwc_n256_c64_h112_w112_k3_s2_p1", true},
        {"max_nchw_n256_c64_h112_w112_k3_s2_p1"}, {"avg_nhwc_n256_c128_h56_w56_k3_s1_p1"},
        {"avg_nchw_n256_c128_h56_w56_k3_s1_p1"},  {"avg_nhwc_n2048_c2048_h7_w7_k7_s1_p0"},
        {"avg_nchw_n2048_c2048_h7_w7_k7_s1_p0"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const pooling::Kind kind = shape.word({"max", "avg"}) == 0
                                   ? pooling::Kind::max
                                   : pooling::Kind::average_exclude_padding;
    const pooling::Axis axis{.kernel = shape.number("k"),
                             .stride = shape.number("s"),
                             .pad_before = shape.number("p"),
                             .pad_after = shape.number("p")};
    const Problem problem{.batch = shape.number("n"),
                          .channels = shape.number("c"),
                          .height = shape.number("h"),
                          .width = shape.number("w"),
                          .vertical = axis,
                          .horizontal = axis,
                          .layout = shape.word({"nchw", "nhwc"}) == 0 ? pooling::Layout::nchw
                                                                      : pooling::Layout::nhwc};
    if (dtype == Dtype::f16) return make_case<f16>(kind, problem);
    if (dtype == Dtype::bf16) return make_case<bf16>(kind, problem);
    return make_case<float>(kind, problem);
  };
  return operation;
}

} // namespace kg::perf
