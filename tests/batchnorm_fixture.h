// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How batchnorm_test.cu runs and judges one problem.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "runtime/launch.h"
#include "tests/batchnorm_problems.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_batch_norm.h"
#include "tests/oracle/strided.h"
#include "tests/support/case.h"
#include "tests/support/device_types.h"
#include "tests/support/hygiene.h"
#include "tests/support/vacuity.h"

#include "batchnorm/batchnorm.h"

namespace kg::test {

using batchnorm::kVariants;
using batchnorm::Layout;
using batchnorm::Problem;
using batchnorm::Variant;

enum class Mode { training, inference };
inline constexpr Mode kModes[] = {Mode::training, Mode::inference};
inline std::string name(Mode mode) { return mode == Mode::training ? "training" : "inference"; }

// Elements between the start of each array's storage, which is aligned to 256 bytes, and the array.
struct Offsets {
  std::int64_t x = 0;
  std::int64_t y = 0;
  std::int64_t channels = 0; // gamma, beta and the statistics
};

template <typename T>
class BatchNorm : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;
  static constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(T));

  // x is in the problem's layout. gamma and beta may be empty: null. Empty running statistics are
  // null in training.
  struct Input {
    Problem problem;
    std::vector<T> x;
    std::vector<float> gamma;
    std::vector<float> beta;
    std::vector<float> running_mean;
    std::vector<float> running_variance;
    float epsilon = 1e-5f;
    float momentum = 0.25f;
  };
  // Inference has no statistics.
  struct Result {
    std::vector<T> y;
    std::vector<float> mean, rstd, running_mean, running_variance;
  };

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("batchnorm", kDtype, kVariants, kRoundedOperation);
  }

  static VariantId id(Variant variant) {
    return {"batchnorm", std::string(name(kDtype)), std::string(name(variant))};
  }

  static CaseContext context(Mode mode, Variant variant, std::string fill, const Problem& problem) {
    return {
        CaseId("batchnorm." + std::string(name(kDtype)) + "." + name(mode) + "_" + text(problem)),
        std::string(name(variant)),
        std::move(fill),
        shape_of(problem),
        {}};
  }

  static std::vector<float> floats(const std::vector<double>& values) {
    return {values.begin(), values.end()};
  }
  static std::vector<double> doubles(const std::vector<float>& values) {
    return {values.begin(), values.end()};
  }

  // `x` is channel by channel.
  static Input make(const Problem& p, const std::vector<double>& x) {
    const auto per_channel = [&](Tensor tensor, std::uint64_t salt) {
      return floats(normal(Dtype::f32, p.channels, tensor, seed() + salt).values);
    };
    Input in{p,
             elements<T>(in_layout(x, p)),
             per_channel(Tensor::b, 0),
             per_channel(Tensor::c, 0),
             per_channel(Tensor::b, 1),
             per_channel(Tensor::c, 1)};
    for (float& variance : in.running_variance) variance = 0.5f + variance * variance;
    return in;
  }
  static Input normals(const Problem& p) {
    return make(p, normal(kDtype, p.elements(), Tensor::a).values);
  }

  // The kernels that must run.
  static std::vector<std::string> kernels(Mode mode, Variant variant, const Problem& p,
                                          Offsets offsets) {
    if (p.elements() == 0) return {};
    const bool training = mode == Mode::training;
    if (variant == Variant::naive)
      return training ? std::vector<std::string>{"naive_statistics<", "naive_apply<"}
                      : std::vector<std::string>{"naive_apply<"};
    const bool columns = p.layout == Layout::nhwc;
    const bool x_packs = !columns || (p.channels % kPack == 0 && offsets.x % kPack == 0);
    const bool packs = columns ? x_packs && offsets.y % kPack == 0 && offsets.channels % 4 == 0
                               : (offsets.x - offsets.y) % kPack == 0;
    const std::string kind = columns ? "column_" : "plane_";
    const auto kernel = [&](const char* what, bool wide) {
      return kind + what + "<, " + std::to_string(wide ? kPack : 1) + ">";
    };
    if (!training) return {kernel("apply", packs)};
    return {kernel("moments", x_packs), "finish_moments", kernel("apply", packs)};
  }

  static void check_launches(const std::vector<LaunchRecord>& launches,
                             const std::vector<std::string>& expected) {
    ASSERT_EQ(launches.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const std::string& kernel = launches[i].kernel_name;
      const std::size_t bracket = expected[i].find('<');
      const bool has_end = bracket != std::string::npos;
      const std::string end = has_end ? expected[i].substr(bracket + 1) : "";
      EXPECT_TRUE(kernel.find("batchnorm::" + expected[i].substr(0, bracket + (has_end ? 1 : 0))) !=
                      std::string::npos &&
                  kernel.ends_with(end))
          << kernel << " ran, not " << expected[i];
    }
  }

  // Ours, with everything checked but the values.
  Result run(Mode mode, Variant variant, const Input& in, Offsets offsets = {}) {
    const Problem& p = in.problem;
    const bool training = mode == Mode::training;
    constexpr std::int64_t kBehind = 5;
    const Strided x_view = contiguous({p.elements()}, offsets.x);
    const Strided y_view = contiguous({p.elements()}, offsets.y);
    const Strided statistics_view = contiguous({training ? p.channels : 0}, offsets.channels);
    const auto shifted = [&](const std::vector<float>& values) {
      return scatter(values,
                     contiguous({static_cast<std::int64_t>(values.size())}, offsets.channels));
    };
    const auto blank = [&] {
      return DeviceBuffer<float>(statistics_view.storage_size() + kBehind);
    };
    const auto on_channels = [&](const std::vector<float>& values) {
      return device_input(values, offsets.channels, stream_);
    };
    const std::vector<T> x = scatter(in.x, x_view);
    const std::vector<float> gamma = shifted(in.gamma), beta = shifted(in.beta);
    const std::vector<float> old_mean = shifted(in.running_mean);
    const std::vector<float> old_variance = shifted(in.running_variance);
    const auto device_x = device_input(x, x_view, stream_);
    const auto device_gamma = on_channels(gamma);
    const auto device_beta = on_channels(beta);
    const auto running_mean = on_channels(old_mean);
    const auto running_variance = on_channels(old_variance);
    const DeviceBuffer<T> device_y(y_view.storage_size() + kBehind);
    const auto mean = blank(), rstd = blank();
    const DeviceBuffer<unsigned char> workspace(
        training ? batchnorm::workspace_bytes(variant, kDtype, p) : 0);

    Hygiene hygiene(id(variant));
    hygiene.input("x", x, device_x, stream_);
    hygiene.input("gamma", gamma, device_gamma, stream_);
    hygiene.input("beta", beta, device_beta, stream_);
    if (!training) hygiene.input("running_mean", old_mean, running_mean, stream_);
    if (!training) hygiene.input("running_variance", old_variance, running_variance, stream_);
    hygiene.workspace(workspace);
    const auto or_null = [&](const std::vector<float>& values, const DeviceBuffer<float>& device) {
      return values.empty() ? nullptr : device.data() + offsets.channels;
    };
    const T* const from = device_x.data() + offsets.x;
    T* const to = device_y.data() + offsets.y;
    const float* const g = or_null(in.gamma, device_gamma);
    const float* const b = or_null(in.beta, device_beta);
    float* const rm = or_null(in.running_mean, running_mean);
    float* const rv = or_null(in.running_variance, running_variance);
    LaunchRecorder recorder;
    const Variant ran =
        training
            ? batchnorm::run_training<T>(
                  p, from, g, b, in.epsilon, {rm, rv, in.momentum}, to,
                  mean.data() + offsets.channels, rstd.data() + offsets.channels,
                  workspace.size() > 0 ? workspace.data() : nullptr, variant, stream_)
            : batchnorm::run_inference<T>(p, from, g, b, rm, rv, in.epsilon, to, variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    check_launches(recorder.launches(), kernels(mode, variant, p, offsets));
    Result result{hygiene.output(device_y, y_view, stream_), {}, {}, {}, {}};
    if (!training) return result;
    result.mean = gather(mean.to_host(stream_), statistics_view);
    result.rstd = gather(rstd.to_host(stream_), statistics_view);
    for (const DeviceBuffer<float>* buffer : {&mean, &rstd}) {
      EXPECT_TRUE(gaps_intact(buffer->to_host(stream_), statistics_view));
      EXPECT_NO_THROW(buffer->check_guards());
    }
    for (const DeviceBuffer<float>* buffer : {&running_mean, &running_variance})
      EXPECT_NO_THROW(buffer->check_guards());
    if (in.running_mean.empty()) return result;
    result.running_mean = gather(running_mean.to_host(stream_), statistics_view);
    result.running_variance = gather(running_variance.to_host(stream_), statistics_view);
    return result;
  }

  static BatchNormOracle reference(Mode mode, const Input& in) {
    const std::vector<double> x = by_channel(observe(in.x).values, in.problem);
    const std::vector<double> gamma = doubles(in.gamma), beta = doubles(in.beta);
    if (mode == Mode::training)
      return batch_norm_oracle(x, in.problem.channels, gamma, beta, in.epsilon);
    const std::vector<double> mean = doubles(in.running_mean);
    const std::vector<double> variance = doubles(in.running_variance);
    return {batch_norm_inference_oracle(x, gamma, beta, mean, variance, in.epsilon), mean,
            variance};
  }

  static std::vector<double> tolerances(Mode mode, Variant variant, const NormOracle& y,
                                        const Problem& p) {
    return in_layout(mode == Mode::training
                         ? batch_norm_tolerances(y, kDtype, batchnorm::chain(variant, kDtype, p))
                         : batch_norm_inference_tolerances(y, kDtype),
                     p);
  }

  // The batch's statistics and what they make of the running ones, which errs by 3 roundings more.
  static void check_statistics(const Result& ours, const BatchNormOracle& right, Variant variant,
                               const Input& in) {
    const double u = unit_roundoff(Dtype::f32);
    const auto n = static_cast<double>(in.problem.per_channel());
    for (std::size_t c = 0; c < ours.mean.size(); ++c) {
      const double mean = right.mean[c], variance = right.variance[c];
      if (!std::isfinite(variance)) {
        EXPECT_FALSE(std::isfinite(ours.rstd[c])) << c;
        if (!in.running_mean.empty()) {
          EXPECT_FALSE(std::isfinite(ours.running_mean[c])) << c;
          EXPECT_FALSE(std::isfinite(ours.running_variance[c])) << c;
        }
        continue;
      }
      const StatisticsBounds bounds =
          batch_norm_statistics_bounds(mean, variance, in.epsilon, kDtype, in.problem.per_channel(),
                                       batchnorm::chain(variant, kDtype, in.problem));
      EXPECT_LE(std::fabs(ours.mean[c] - mean), bounds.mean) << c;
      const double rstd = 1 / std::sqrt(variance + in.epsilon);
      EXPECT_LE(std::fabs(ours.rstd[c] - rstd), bounds.variance / 2 * rstd) << c;
      if (in.running_mean.empty()) continue;
      const auto updated = [&](double old, double batch, double bound, double now) {
        const double kept = (1 - in.momentum) * old;
        const double added = in.momentum * batch;
        EXPECT_LE(std::fabs(now - (kept + added)),
                  in.momentum * bound + 3 * u * (std::fabs(kept) + std::fabs(added)))
            << c;
      };
      updated(in.running_mean[c], mean, bounds.mean, ours.running_mean[c]);
      if (n > 1)
        updated(in.running_variance[c], variance * n / (n - 1),
                bounds.variance * (variance + in.epsilon) * n / (n - 1), ours.running_variance[c]);
      else
        EXPECT_TRUE(std::isnan(ours.running_variance[c])) << c;
    }
  }

  void check(Mode mode, const std::string& fill, const Input& in, Offsets offsets = {},
             Degenerate degenerate = Degenerate::no) {
    const BatchNormOracle right = reference(mode, in);
    const std::vector<double> value = in_layout(right.y.value, in.problem);
    for (const Variant variant : kVariants) {
      const auto tolerance = tolerances(mode, variant, right.y, in.problem);
      const Expectation expected{kDtype, shape_of(in.problem), value, tolerance};
      EXPECT_TRUE(not_vacuous(expected, degenerate))
          << fill << ", " << name(mode) << " " << text(in.problem);
      const Result ours = run(mode, variant, in, offsets);
      EXPECT_TRUE(
          verdict(compare(observe(ours.y), expected), context(mode, variant, fill, in.problem)));
      check_statistics(ours, right, variant, in);
    }
  }

  // Every variant gives exactly these, in the problem's layout.
  void check_exact(Mode mode, const std::string& fill, const Input& in,
                   const std::vector<double>& value, Degenerate degenerate = Degenerate::no) {
    const Expectation expected{kDtype, shape_of(in.problem), value, {}};
    EXPECT_TRUE(not_vacuous(expected, degenerate)) << fill << ", " << text(in.problem);
    for (const Variant variant : kVariants)
      EXPECT_TRUE(verdict(compare(observe(run(mode, variant, in).y), expected),
                          context(mode, variant, fill, in.problem)));
  }

  Stream stream_;
};

TYPED_TEST_SUITE(BatchNorm, FloatTypes, DtypeNames);

} // namespace kg::test
