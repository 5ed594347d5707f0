// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Batch normalisation of images, large planes of few channels and small ones of many, in training
// and in inference.
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/batchnorm_problems.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle_batch_norm.h"
#include "vendor/batchnorm/batchnorm.h"

#include "batchnorm/batchnorm.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

namespace kg::perf {
namespace {

using batchnorm::Problem;

constexpr float kEpsilon = 1e-5f;

enum class Mode { training, inference };

// mean and spread: the batch's mean and rstd, which training writes, or the running mean and
// variance, which inference reads.
template <class T>
struct Images {
  Images(Mode mode, const Problem& p, std::size_t workspace_bytes, Stream& stream)
      : mode(mode), problem(p), x(p.elements(), test::Tensor::a, stream),
        gamma(p.channels, test::Tensor::b, stream), beta(p.channels, test::Tensor::c, stream),
        mean(halves(p, stream)), spread(halves(p, stream)), running_mean(halves(p, stream)),
        running_variance(halves(p, stream)), y(static_cast<std::size_t>(p.elements())),
        workspace(workspace_bytes) {}

  void poison(Stream& stream) {
    y.poison(stream);
    if (mode == Mode::inference) return;
    mean.poison(stream);
    spread.poison(stream);
  }

  Mode mode;
  Problem problem;
  RandomData<T> x;
  RandomData<float> gamma;
  RandomData<float> beta;
  DeviceBuffer<float> mean, spread, running_mean, running_variance;
  DeviceBuffer<T> y;
  DeviceBuffer<unsigned char> workspace;

 private:
  static DeviceBuffer<float> halves(const Problem& p, Stream& stream) {
    return DeviceBuffer<float>::from_host(
        std::vector<float>(static_cast<std::size_t>(p.channels), 0.5f), stream);
  }
};

// What a variant's results are held to: the bounds of the correctness tests for its longest chain
// of additions, times slack.
struct Accuracy {
  std::int64_t chain;
  double slack;
};

// Eight channels, the first and the last among them.
template <class T>
std::string verify_statistics(const Images<T>& images, Accuracy accuracy, Stream& stream) {
  const Problem& p = images.problem;
  const std::vector<float> mean = images.mean.to_host(stream);
  const std::vector<float> rstd = images.spread.to_host(stream);
  const std::int64_t count = std::min<std::int64_t>(p.channels, 8);
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t c = count == 1 ? 0 : k * (p.channels - 1) / (count - 1);
    std::vector<double> x;
    for (std::int64_t i = 0; i < p.per_channel(); ++i)
      x.push_back(test::to_double(images.x.at(static_cast<std::int64_t>(test::place_of(p, c, i)))));
    const auto right = test::batch_norm_oracle(x, 1, {}, {}, kEpsilon);
    const auto bounds = test::batch_norm_statistics_bounds(
        right.mean[0], right.variance[0], kEpsilon, dtype_of<T>, p.per_channel(), accuracy.chain);
    const double right_rstd = 1 / std::sqrt(right.variance[0] + kEpsilon);
    const auto at = static_cast<std::size_t>(c);
    if (!(std::fabs(mean[at] - right.mean[0]) <= accuracy.slack * bounds.mean))
      return "mean of channel " + std::to_string(c) + " is " + std::to_string(mean[at]) + ", not " +
             std::to_string(right.mean[0]);
    if (!(std::fabs(rstd[at] / right_rstd - 1) <= accuracy.slack * bounds.variance / 2))
      return "rstd of channel " + std::to_string(c) + " is " + std::to_string(rstd[at]) + ", not " +
             std::to_string(right_rstd);
  }
  return "";
}

// y by the statistics that there are; of large tensors some of it.
template <class T>
std::string verify(const Images<T>& images, Accuracy accuracy, Stream& stream) {
  const Problem& p = images.problem;
  const bool training = images.mode == Mode::training;
  if (training) {
    const std::string wrong = verify_statistics(images, accuracy, stream);
    if (!wrong.empty()) return wrong;
  }
  const std::vector<float> means = images.mean.to_host(stream);
  const std::vector<float> spreads = images.spread.to_host(stream);
  for (const Window window : windows(p.elements(), 1 << 17)) {
    std::vector<double> gamma, beta, mean, variance; // of each element
    for (std::int64_t i = window.first; i < window.first + window.count; ++i) {
      const std::int64_t c =
          p.layout == batchnorm::Layout::nchw ? i / p.spatial % p.channels : i % p.channels;
      gamma.push_back(images.gamma.at(c));
      beta.push_back(images.beta.at(c));
      mean.push_back(means[static_cast<std::size_t>(c)]);
      const double spread = spreads[static_cast<std::size_t>(c)];
      variance.push_back(training ? 1 / (spread * spread) : spread + kEpsilon);
    }
    const auto oracle = test::batch_norm_inference_oracle(
        images.x.values(window.first, window.count), gamma, beta, mean, variance, 0);
    auto tolerance = test::batch_norm_inference_tolerances(oracle, dtype_of<T>);
    for (double& bound : tolerance) bound *= accuracy.slack;
    const test::Expectation expected{dtype_of<T>, {window.count}, oracle.value, tolerance};
    const auto comparison = test::compare(observe(images.y, window, stream), expected);
    if (!comparison.passed()) return comparison.text();
  }
  return "";
}

template <class T, class Run>
Workload workload(std::string variant, Mode mode, const Problem& problem, std::size_t workspace,
                  Accuracy accuracy, Run run) {
  Stream stream;
  auto images = std::make_shared<Images<T>>(mode, problem, workspace, stream);
  return {[=](Stream& s) { run(*images, s); }, [=](Stream& s) { images->poison(s); },
          [=](Stream& s) { return verify(*images, accuracy, s); }, std::move(variant)};
}

template <class T>
void run(const Images<T>& i, batchnorm::Variant variant, Stream& stream) {
  if (i.mode == Mode::training)
    batchnorm::run_training<T>(i.problem, i.x.data(), i.gamma.data(), i.beta.data(), kEpsilon,
                               {i.running_mean.data(), i.running_variance.data()}, i.y.data(),
                               i.mean.data(), i.spread.data(), i.workspace.data(), variant, stream);
  else
    batchnorm::run_inference<T>(i.problem, i.x.data(), i.gamma.data(), i.beta.data(), i.mean.data(),
                                i.spread.data(), kEpsilon, i.y.data(), variant, stream);
}

template <class T>
Case make_case(Mode mode, const Problem& problem) {
  const bool training = mode == Mode::training;
  // On the executor shuffles and barriers cost more than the memory.
  Case result{training && backend == Backend::host ? Kind::sync : Kind::memory,
              training ? batchnorm::training_work(dtype_of<T>, problem)
                       : batchnorm::inference_work(dtype_of<T>, problem),
              {}};
  result.automatic = batchnorm::name(batchnorm::resolved(batchnorm::Variant::automatic));
  for (const batchnorm::Variant variant : batchnorm::kVariants) {
    const std::string name(batchnorm::name(variant));
    result.variants.push_back({name, false,
                               [=] {
                                 return workload<T>(
                                     name, mode, problem,
                                     batchnorm::workspace_bytes(variant, dtype_of<T>, problem),
                                     {batchnorm::chain(variant, dtype_of<T>, problem), 1},
                                     [=](const Images<T>& i, Stream& s) { run(i, variant, s); });
                               },
                               !training || variant != batchnorm::Variant::naive ||
                                   is_timed_in_sequence(problem.per_channel())});
  }
  for (const std::string_view variant : vendor::batchnorm_variants(dtype_of<T>, problem)) {
    const std::string name(variant);
    // A library may add a channel up one by one and fold the mean. Its accuracy is a matter of the
    // correctness tests; here it must have done the work.
    constexpr double kSlack = 4;
    result.variants.push_back({name, true, [=] {
                                 return workload<T>(
                                     name, mode, problem, 0, {problem.per_channel(), kSlack},
                                     [=](const Images<T>& i, Stream& s) {
                                       const auto call = training ? vendor::batchnorm_training
                                                                  : vendor::batchnorm_inference;
                                       call(name, dtype_of<T>,
                                            {problem, i.x.data(), i.gamma.data(), i.beta.data(),
                                             kEpsilon, i.y.data(), i.mean.data(), i.spread.data()},
                                            s);
                                     });
                               }});
  }
  return result;
}

} // namespace

Operation batchnorm_operation() {
  Operation operation{"batchnorm", "normalization", {Dtype::f32, Dtype::f16, Dtype::bf16}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {
        {"train_nhwc_n2_c64_s196", true}, {"train_nchw_n4_c8_s196"}, {"infer_nchw_n4_c8_s196"}};
  else // a small one, and 256 MiB of 16-bit elements and more
    operation.shapes = {{"train_nhwc_n8_c64_s784"},     {"train_nhwc_n256_c64_s12544", true},
                        {"train_nchw_n256_c64_s12544"}, {"train_nhwc_n1536_c2048_s49"},
                        {"train_nchw_n1536_c2048_s49"}, {"infer_nhwc_n256_c256_s3136"},
                        {"infer_nchw_n256_c256_s3136"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const Mode mode = shape.word({"train", "infer"}) == 0 ? Mode::training : Mode::inference;
    const Problem problem{.batch = shape.number("n"),
                          .channels = shape.number("c"),
                          .spatial = shape.number("s"),
                          .layout = shape.word({"nchw", "nhwc"}) == 0 ? batchnorm::Layout::nchw
                                                                      : batchnorm::Layout::nhwc};
    if (dtype == Dtype::f16) return make_case<f16>(mode, problem);
    if (dtype == Dtype::bf16) return make_case<bf16>(mode, problem);
    return make_case<float>(mode, problem);
  };
  return operation;
}

} // namespace kg::perf
