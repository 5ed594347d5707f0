// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How batchnorm_backward_test.cu runs and judges one problem.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "runtime/launch.h"
#include "tests/ops/batchnorm/channels.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_batch_norm_backward.h"
#include "tests/oracle/strided.h"
#include "tests/support/case.h"
#include "tests/support/device_types.h"
#include "tests/support/hygiene.h"
#include "tests/support/vacuity.h"

#include "batchnorm_backward/batchnorm_backward.h"

namespace kg::test {

using batchnorm_backward::kVariants;
using batchnorm_backward::Layout;
using batchnorm_backward::Problem;
using batchnorm_backward::Variant;

// Elements between the start of each array's storage, which is aligned to 256 bytes, and the array.
struct Offsets {
  std::int64_t dy = 0;
  std::int64_t x = 0;
  std::int64_t dx = 0;
  std::int64_t channels = 0; // gamma, the statistics, dgamma and dbeta
};

template <typename T>
class BatchNormBackward : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;
  static constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(T));

  // dy and x are in the problem's layout. gamma may be empty: null.
  struct Input {
    Problem problem;
    std::vector<T> dy;
    std::vector<T> x;
    std::vector<float> gamma;
    std::vector<float> mean;
    std::vector<float> rstd;
  };
  struct Result {
    std::vector<T> dx;
    std::vector<float> dgamma;
    std::vector<float> dbeta;
  };

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("batchnorm_backward", kDtype, kVariants, kRoundedOperation);
  }

  static VariantId id(Variant variant) {
    return {"batchnorm_backward", std::string(name(kDtype)), std::string(name(variant))};
  }

  static CaseContext context(Variant variant, std::string what, const Problem& p,
                             std::vector<std::int64_t> shape) {
    return {CaseId("batchnorm_backward." + std::string(name(kDtype)) + "." + text(p)),
            std::string(name(variant)),
            std::move(what),
            std::move(shape),
            {}};
  }

  // The gradients' formulas take any statistics: a mean near 0 and rstd of 1/2, 1 and 2, of which a
  // library's variance is exact. dy and x are channel by channel.
  static Input make(const Problem& p, const std::vector<double>& dy, const std::vector<double>& x) {
    Input in{p, elements<T>(in_layout(dy, p)), elements<T>(in_layout(x, p)), {}, {}, {}};
    for (const double each : normal(Dtype::f32, p.channels, Tensor::c).values)
      in.gamma.push_back(static_cast<float>(each));
    for (std::int64_t c = 0; c < p.channels; ++c) {
      in.mean.push_back(static_cast<float>(c % 5) * 0.25f - 0.5f);
      in.rstd.push_back(std::ldexp(1.0f, static_cast<int>(c % 3) - 1));
    }
    return in;
  }
  static Input normals(const Problem& p) {
    return make(p, normal(kDtype, p.elements(), Tensor::a).values,
                normal(kDtype, p.elements(), Tensor::b).values);
  }

  // The kernels that must run.
  static std::vector<std::string> kernels(Variant variant, const Problem& p, Offsets o) {
    if (p.channels == 0) return {};
    if (p.elements() == 0) return {"naive_sums<"};
    if (variant == Variant::naive) return {"naive_sums<", "naive_gradient<"};
    const bool columns = p.layout == Layout::nhwc;
    const bool packs = columns ? p.channels % kPack == 0 && o.dy % kPack == 0 && o.x % kPack == 0 &&
                                     o.dx % kPack == 0 && o.channels % 4 == 0
                               : (o.dy - o.x) % kPack == 0 && (o.dx - o.x) % kPack == 0;
    const std::string kind = columns ? "column_" : "plane_";
    const std::string count = "<, " + std::to_string(packs ? kPack : 1) + ">";
    return {kind + "sums" + count, "sum_partials<", kind + "gradient" + count};
  }

  static void check_launches(const std::vector<LaunchRecord>& launches,
                             const std::vector<std::string>& expected) {
    ASSERT_EQ(launches.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const std::string& kernel = launches[i].kernel_name;
      const std::size_t bracket = expected[i].find('<') + 1;
      EXPECT_TRUE(kernel.find("::" + expected[i].substr(0, bracket)) != std::string::npos &&
                  kernel.ends_with(expected[i].substr(bracket)))
          << kernel << " ran, not " << expected[i];
    }
  }

  // Ours, with everything checked but the values.
  Result run(Variant variant, const Input& in, Offsets o = {}) {
    const Problem& p = in.problem;
    constexpr std::int64_t kBehind = 5;
    const auto tensor = [&](std::int64_t offset) { return contiguous({p.elements()}, offset); };
    const Strided channels_view = contiguous({p.channels}, o.channels);
    const auto shifted = [&](const std::vector<float>& values) {
      return scatter(values, contiguous({static_cast<std::int64_t>(values.size())}, o.channels));
    };
    const auto upload = [&](const auto& values, std::int64_t offset) {
      return device_input(values, offset, stream_);
    };
    const std::vector<T> dy = scatter(in.dy, tensor(o.dy)), x = scatter(in.x, tensor(o.x));
    const std::vector<float> gamma = shifted(in.gamma), mean = shifted(in.mean);
    const std::vector<float> rstd = shifted(in.rstd);
    const auto device_dy = upload(dy, o.dy), device_x = upload(x, o.x);
    const auto device_gamma = upload(gamma, o.channels), device_mean = upload(mean, o.channels);
    const auto device_rstd = upload(rstd, o.channels);
    const DeviceBuffer<T> dx(tensor(o.dx).storage_size() + kBehind);
    const DeviceBuffer<float> dgamma(channels_view.storage_size() + kBehind);
    const DeviceBuffer<float> dbeta(channels_view.storage_size() + kBehind);
    const DeviceBuffer<unsigned char> workspace(
        batchnorm_backward::workspace_bytes(variant, kDtype, p));

    Hygiene hygiene(id(variant));
    hygiene.input("dy", dy, device_dy, stream_);
    hygiene.input("x", x, device_x, stream_);
    hygiene.input("gamma", gamma, device_gamma, stream_);
    hygiene.input("mean", mean, device_mean, stream_);
    hygiene.input("rstd", rstd, device_rstd, stream_);
    hygiene.workspace(workspace);
    LaunchRecorder recorder;
    const Variant ran = batchnorm_backward::run<T>(
        p, device_dy.data() + o.dy, device_x.data() + o.x,
        in.gamma.empty() ? nullptr : device_gamma.data() + o.channels,
        device_mean.data() + o.channels, device_rstd.data() + o.channels, dx.data() + o.dx,
        dgamma.data() + o.channels, dbeta.data() + o.channels,
        workspace.size() > 0 ? workspace.data() : nullptr, variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    check_launches(recorder.launches(), kernels(variant, p, o));
    for (const DeviceBuffer<float>* buffer : {&dgamma, &dbeta}) {
      EXPECT_TRUE(gaps_intact(buffer->to_host(stream_), channels_view));
      EXPECT_NO_THROW(buffer->check_guards());
    }
    return {hygiene.output(dx, tensor(o.dx), stream_),
            gather(dgamma.to_host(stream_), channels_view),
            gather(dbeta.to_host(stream_), channels_view)};
  }

  static NormBackwardOracle reference(const Input& in) {
    const auto doubles = [](const std::vector<float>& of) {
      return std::vector<double>(of.begin(), of.end());
    };
    const auto rows = [&](const std::vector<T>& of) {
      return by_channel(observe(of).values, in.problem);
    };
    return batch_norm_backward_oracle(rows(in.dy), rows(in.x), doubles(in.gamma), doubles(in.mean),
                                      doubles(in.rstd));
  }

  // Why a wrong sum may look like the right one.
  static Degenerate degenerate(const std::vector<double>& sums) {
    if (sums.size() > 1) return Degenerate::no;
    return sums[0] == 0 ? Degenerate::zero : Degenerate::single_element;
  }

  void check(const std::string& fill, const Input& in, Offsets offsets = {},
             Degenerate of_dx = Degenerate::no) {
    const Problem& p = in.problem;
    const NormBackwardOracle right = reference(in);
    const std::vector<double> dx = in_layout(right.dx, p);
    for (const Variant variant : kVariants) {
      const Result ours = run(variant, in, offsets);
      const std::int64_t chain = batchnorm_backward::chain(variant, kDtype, p);
      const auto compared = [&](const std::string& what, const Observed& actual, Dtype dtype,
                                std::vector<std::int64_t> shape, const std::vector<double>& value,
                                const std::vector<double>& tolerance, Degenerate reason) {
        const Expectation expected{dtype, shape, value, tolerance};
        // naive stands for all: what is expected is the same, and so, nearly, are the bounds.
        if (variant == Variant::naive) {
          EXPECT_TRUE(not_vacuous(expected, reason)) << what << ", " << fill << ", " << text(p);
        }
        EXPECT_TRUE(
            verdict(compare(actual, expected), context(variant, what + " of " + fill, p, shape)));
      };
      compared("dx", observe(ours.dx), kDtype, shape_of(p), dx,
               in_layout(norm_backward_dx_tolerances(right, kDtype, chain), p), of_dx);
      compared("dgamma", observe(ours.dgamma), Dtype::f32, {p.channels}, right.dgamma,
               norm_backward_column_tolerances(right.dgamma, right.dgamma_abs, Dtype::f32, chain),
               degenerate(right.dgamma));
      compared("dbeta", observe(ours.dbeta), Dtype::f32, {p.channels}, right.dbeta,
               norm_backward_column_tolerances(right.dbeta, right.dbeta_abs, Dtype::f32, chain),
               degenerate(right.dbeta));
    }
  }

  Stream stream_;
};

TYPED_TEST_SUITE(BatchNormBackward, FloatTypes, DtypeNames);

} // namespace kg::test
