// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of pooling that halves an image, that smooths one, and that leaves one number of
// each plane.
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/tolerance.h"
#include "tests/pooling_problems.h"
#include "vendor/pooling/pooling.h"
#include "vendor/pooling_backward/pooling_backward.h"

#include "pooling_backward/pooling_backward.h"

#include <memory>
#include <string>

namespace kg::perf {
namespace {

using pooling::Problem;

template <class T>
struct Images {
  Images(pooling::Kind kind, const Problem& problem, Stream& stream)
      : x(problem.inputs(), test::Tensor::a, stream),
        dy(problem.outputs(), test::Tensor::b, stream),
        y(static_cast<std::size_t>(problem.outputs())),
        dx(static_cast<std::size_t>(problem.inputs())),
        workspace(pooling_backward::workspace_bytes(pooling_backward::Variant::vectorized, kind,
                                                    problem)) {}
  RandomData<T> x;
  RandomData<T> dy;
  DeviceBuffer<T> y; // for vendors: the result of their forward pass
  DeviceBuffer<T> dx;
  DeviceBuffer<unsigned char> workspace;
};

// How far a result may be from the oracle's: a sum of `terms` shares, `sum_abs` that of their
// magnitudes.
using Bound = double (*)(Dtype dtype, double value, std::int64_t terms, double sum_abs);

double our_bound(Dtype dtype, double value, std::int64_t terms, double sum_abs) {
  return test::stored_tolerance(dtype, value, test::pool_gradient_f32_tolerance(terms, sum_abs));
}

// A library may round its shares, and then every partial sum, to the type that it stores. Its
// accuracy is a matter of pooling_backward_test.cu; here it must have done the work.
double vendor_bound(Dtype dtype, double, std::int64_t terms, double sum_abs) {
  return static_cast<double>(terms + 2) *
         (unit_roundoff(dtype) * sum_abs + test::half_min_subnormal(dtype));
}

// Whole images; of large batches some.
template <class T>
std::string verify(const Images<T>& images, pooling::Kind kind, const Problem& problem, Bound bound,
                   Stream& stream) {
  const std::int64_t in = problem.inputs() / problem.batch;
  const std::int64_t out = problem.outputs() / problem.batch;
  for (const Window window : windows(problem.inputs(), 1 << 17, in)) {
    Problem part = problem;
    part.batch = window.count / in;
    const std::int64_t image = window.first / in;
    const test::Pooling pooling = test::oracle_problem(kind, part);
    const auto dy = test::y_in_nchw(images.dy.values(image * out, part.outputs()), part);
    const auto oracle =
        kind == pooling::Kind::max
            ? test::max_pool_gradient_oracle(
                  pooling, test::x_in_nchw(images.x.values(window.first, window.count), part), dy)
            : test::average_pool_gradient_oracle(pooling, dy);
    std::vector<double> tolerance;
    for (std::size_t i = 0; i < oracle.value.size(); ++i)
      tolerance.push_back(bound(dtype_of<T>, oracle.value[i], oracle.terms[i], oracle.sum_abs[i]));
    const auto value = test::x_in_layout(oracle.value, part);
    const auto bounds = test::x_in_layout(tolerance, part);
    const auto comparison = test::compare(observe(images.dx, window, stream),
                                          {dtype_of<T>, {window.count}, value, bounds});
    if (!comparison.passed()) return comparison.text();
  }
  return "";
}

template <class T, class Run>
Workload workload(std::string variant, std::shared_ptr<Images<T>> images, pooling::Kind kind,
                  const Problem& problem, Bound bound, Run run) {
  return {[=](Stream& s) { run(*images, s); }, [=](Stream& s) { images->dx.poison(s); },
          [=](Stream& s) { return verify(*images, kind, problem, bound, s); }, std::move(variant)};
}

template <class T>
Case make_case(pooling::Kind kind, const Problem& problem) {
  Case result{Kind::memory, pooling_backward::work(dtype_of<T>, kind, problem), {}};
  result.automatic = pooling_backward::name(
      pooling_backward::resolved(pooling_backward::Variant::automatic, kind, problem));
  for (const pooling_backward::Variant variant : pooling_backward::kVariants) {
    if (!pooling_backward::supports(variant, kind, problem)) continue;
    const std::string name(pooling_backward::name(variant));
    result.variants.push_back(
        {name, false, [=] {
           Stream stream;
           auto images = std::make_shared<Images<T>>(kind, problem, stream);
           return workload<T>(
               name, images, kind, problem, our_bound, [=](const Images<T>& i, Stream& s) {
                 pooling_backward::run<T>(kind, problem, i.x.data(), i.dy.data(), i.dx.data(),
                                          i.workspace.data(), variant, s);
               });
         }});
  }
  for (const std::string_view variant :
       vendor::pooling_backward_variants(kind, dtype_of<T>, problem)) {
    const std::string name(variant);
    result.variants.push_back(
        {name, true, [=] {
           Stream stream;
           auto images = std::make_shared<Images<T>>(kind, problem, stream);
           vendor::pooling(name, kind, dtype_of<T>, problem, images->x.data(), images->y.data(),
                           stream);
           stream.synchronize();
           return workload<T>(
               name, images, kind, problem, vendor_bound, [=](const Images<T>& i, Stream& s) {
                 vendor::pooling_backward(name, kind, dtype_of<T>, problem,
                                          {i.x.data(), i.y.data(), i.dy.data(), i.dx.data()}, s);
               });
         }});
  }
  return result;
}

} // namespace

Operation pooling_backward_operation() {
  Operation operation{"pooling_backward", "pooling", {Dtype::f32, Dtype::f16, Dtype::bf16}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"max_nhwc_n1_c32_h32_w32_k3_s2_p1", true},
                        {"avg_nchw_n1_c8_h32_w32_k3_s1_p1"},
                        {"avg_nhwc_n2_c64_h14_w14_k14_s1_p0"}};
  else // a small one, and 256 MiB of 16-bit elements and more
    operation.shapes = {
        {"max_nhwc_n1_c64_h56_w56_k3_s2_p1"},     {"max_nhwc_n256_c64_h112_w112_k3_s2_p1", true},
        {"max_nchw_n256_c64_h112_w112_k3_s2_p1"}, {"avg_nhwc_n256_c128_h56_w56_k3_s1_p1"},
        {"avg_nchw_n256_c128_h56_w56_k3_s1_p1"},  {"avg_nhwc_n2048_c2048_h7_w7_k7_s1_p0"}};
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
