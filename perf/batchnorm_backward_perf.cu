// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of batch normalisation of images, large planes of few channels and small ones of
// many. Their formulas take any statistics: these are not those of x, but what a library makes of
// them is exact.
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/ops/batchnorm/channels.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle_batch_norm_backward.h"
#include "vendor/batchnorm_backward/batchnorm_backward.h"

#include "batchnorm_backward/batchnorm_backward.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

namespace kg::perf {
namespace {

using batchnorm_backward::Layout;
using batchnorm_backward::Problem;

template <class T>
struct Gradients {
  Gradients(const Problem& p, std::size_t workspace_bytes, Stream& stream)
      : problem(p), dy(p.elements(), test::Tensor::a, stream),
        x(p.elements(), test::Tensor::b, stream), gamma(p.channels, test::Tensor::c, stream),
        mean(p.channels, test::Tensor::a, stream), rstd(powers(p, stream)),
        dx(static_cast<std::size_t>(p.elements())), dgamma(static_cast<std::size_t>(p.channels)),
        dbeta(static_cast<std::size_t>(p.channels)), workspace(workspace_bytes) {}

  // 1/2, 1 and 2 in turn.
  static double rstd_of(std::int64_t channel) {
    return std::ldexp(1.0, static_cast<int>(channel % 3) - 1);
  }

  void poison(Stream& stream) {
    dx.poison(stream);
    dgamma.poison(stream);
    dbeta.poison(stream);
  }

  Problem problem;
  RandomData<T> dy;
  RandomData<T> x;
  RandomData<float> gamma;
  RandomData<float> mean;
  DeviceBuffer<float> rstd;
  DeviceBuffer<T> dx;
  DeviceBuffer<float> dgamma, dbeta;
  DeviceBuffer<unsigned char> workspace;

 private:
  static DeviceBuffer<float> powers(const Problem& p, Stream& stream) {
    std::vector<float> values;
    for (std::int64_t c = 0; c < p.channels; ++c) values.push_back(static_cast<float>(rstd_of(c)));
    return DeviceBuffer<float>::from_host(values, stream);
  }
};

// What results are held to: the bounds of the correctness tests for the longest chain of additions,
// times slack.
struct Accuracy {
  std::int64_t chain;
  double slack;
};

// Eight channels, the first and the last among them: their sums, and of dx the elements of each
// that lie in the windows.
template <class T>
std::string verify(const Gradients<T>& g, Accuracy accuracy, Stream& stream) {
  const Problem& p = g.problem;
  const std::vector<float> dgamma = g.dgamma.to_host(stream);
  const std::vector<float> dbeta = g.dbeta.to_host(stream);
  const std::vector<Window> parts = windows(p.elements(), 1 << 17);
  const std::int64_t count = std::min<std::int64_t>(p.channels, 8);
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t c = count == 1 ? 0 : k * (p.channels - 1) / (count - 1);
    const auto at = static_cast<std::size_t>(c);
    std::vector<double> dy, x;
    for (std::int64_t i = 0; i < p.per_channel(); ++i) {
      const auto place = static_cast<std::int64_t>(test::place_of(p, c, i));
      dy.push_back(test::to_double(g.dy.at(place)));
      x.push_back(test::to_double(g.x.at(place)));
    }
    const std::vector<double> gamma{g.gamma.at(c)}, mean{g.mean.at(c)}, rstd{g.rstd_of(c)};
    const auto right = test::batch_norm_backward_oracle(dy, x, gamma, mean, rstd);
    const auto sum = [&](const char* what, float ours, const std::vector<double>& value,
                         const std::vector<double>& value_abs) {
      auto bound =
          test::norm_backward_column_tolerances(value, value_abs, Dtype::f32, accuracy.chain);
      bound[0] *= accuracy.slack;
      const auto comparison =
          test::compare(test::observe(std::vector<float>{ours}), {Dtype::f32, {1}, value, bound});
      return comparison.passed()
                 ? ""
                 : what + (" of channel " + std::to_string(c)) + ": " + comparison.text();
    };
    std::string wrong = sum("dgamma", dgamma[at], right.dgamma, right.dgamma_abs);
    if (wrong.empty()) wrong = sum("dbeta", dbeta[at], right.dbeta, right.dbeta_abs);
    if (!wrong.empty()) return wrong;
    const auto bounds = test::norm_backward_dx_tolerances(right, dtype_of<T>, accuracy.chain);
    for (const Window& part : parts) {
      const test::Observed stored = observe(g.dx, part, stream);
      std::vector<double> ours, value, bound;
      for (std::int64_t i = 0; i < p.per_channel(); ++i) {
        const auto place = static_cast<std::int64_t>(test::place_of(p, c, i)) - part.first;
        if (place < 0 || place >= part.count) continue;
        ours.push_back(stored.values[static_cast<std::size_t>(place)]);
        value.push_back(right.dx[static_cast<std::size_t>(i)]);
        bound.push_back(accuracy.slack * bounds[static_cast<std::size_t>(i)]);
      }
      const auto size = static_cast<std::int64_t>(value.size());
      const auto comparison =
          test::compare({dtype_of<T>, ours, {}}, {dtype_of<T>, {size}, value, bound});
      if (!comparison.passed())
        return "dx of channel " + std::to_string(c) + ": " + comparison.text();
    }
  }
  return "";
}

template <class T, class Run>
Workload workload(std::string variant, const Problem& problem, std::size_t workspace,
                  Accuracy accuracy, Run run) {
  Stream stream;
  auto gradients = std::make_shared<Gradients<T>>(problem, workspace, stream);
  return {[=](Stream& s) { run(*gradients, s); }, [=](Stream& s) { gradients->poison(s); },
          [=](Stream& s) { return verify(*gradients, accuracy, s); }, std::move(variant)};
}

template <class T>
Case make_case(const Problem& problem) {
  // On the executor shuffles and barriers cost more than the memory.
  Case result{backend == Backend::host ? Kind::sync : Kind::memory,
              batchnorm_backward::work(dtype_of<T>, problem),
              {}};
  result.automatic = batchnorm_backward::name(
      batchnorm_backward::resolved(batchnorm_backward::Variant::automatic));
  for (const batchnorm_backward::Variant variant : batchnorm_backward::kVariants) {
    const std::string name(batchnorm_backward::name(variant));
    result.variants.push_back(
        {name, false,
         [=] {
           return workload<T>(
               name, problem, batchnorm_backward::workspace_bytes(variant, dtype_of<T>, problem),
               {batchnorm_backward::chain(variant, dtype_of<T>, problem), 1},
               [=](const Gradients<T>& g, Stream& s) {
                 batchnorm_backward::run<T>(
                     problem, g.dy.data(), g.x.data(), g.gamma.data(), g.mean.data(), g.rstd.data(),
                     g.dx.data(), g.dgamma.data(), g.dbeta.data(), g.workspace.data(), variant, s);
               });
         },
         variant != batchnorm_backward::Variant::naive ||
             is_timed_in_sequence(problem.per_channel())});
  }
  for (const std::string_view variant : vendor::batchnorm_backward_variants(dtype_of<T>, problem)) {
    const std::string name(variant);
    // A library may add a channel up one by one. Its accuracy is a matter of the correctness tests;
    // here it must have done the work.
    constexpr double kSlack = 4;
    result.variants.push_back({name, true, [=] {
                                 return workload<T>(
                                     name, problem, 0, {problem.per_channel(), kSlack},
                                     [=](const Gradients<T>& g, Stream& s) {
                                       vendor::batchnorm_backward(name, dtype_of<T>,
                                                                  {problem, g.dy.data(), g.x.data(),
                                                                   g.gamma.data(), g.mean.data(),
                                                                   g.rstd.data(), g.dx.data(),
                                                                   g.dgamma.data(), g.dbeta.data()},
                                                                  s);
                                     });
                               }});
  }
  return result;
}

} // namespace

Operation batchnorm_backward_operation() {
  Operation operation{
      "batchnorm_backward", "normalization", {Dtype::f32, Dtype::f16, Dtype::bf16}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"nhwc_n2_c64_s196", true}, {"nchw_n4_c8_s196"}, {"nchw_n4_c8_s49"}};
  else // a small one, and 256 MiB of 16-bit elements and more
    operation.shapes = {{"nhwc_n8_c64_s784"},
                        {"nhwc_n256_c64_s12544", true},
                        {"nchw_n256_c64_s12544"},
                        {"nhwc_n1536_c2048_s49"},
                        {"nchw_n1536_c2048_s49"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const Problem problem{.batch = shape.number("n"),
                          .channels = shape.number("c"),
                          .spatial = shape.number("s"),
                          .layout =
                              shape.word({"nchw", "nhwc"}) == 0 ? Layout::nchw : Layout::nhwc};
    if (dtype == Dtype::f16) return make_case<f16>(problem);
    if (dtype == Dtype::bf16) return make_case<bf16>(problem);
    return make_case<float>(problem);
  };
  return operation;
}

} // namespace kg::perf
