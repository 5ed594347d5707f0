// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How the tests of rmsnorm and layernorm run and judge one matrix. What differs between the two is
// a Norm (RmsNorm in rmsnorm_test.cu, LayerNorm in layernorm_test.cu).
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "runtime/launch.h"
#include "tests/normalization_types.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_rows.h"
#include "tests/oracle/strided.h"
#include "tests/oracle/tolerance_rows.h"
#include "tests/support/case.h"
#include "tests/support/device_types.h"
#include "tests/support/hygiene.h"
#include "tests/support/vacuity.h"

#include "normalization/variants.h"

namespace kg::test {

using normalization::kVariants;
using normalization::supports;
using normalization::Variant;

// Elements from row to row beyond `cols`, and before the first one.
struct Layout {
  std::int64_t x_gap = 0;
  std::int64_t y_gap = 0;
  std::int64_t x_offset = 0;
  std::int64_t y_offset = 0;
  std::int64_t gamma_offset = 0;
};

// What a Norm needs to be judged as rmsnorm.
struct RmsReference {
  static constexpr bool kCentred = false;

  static NormOracle oracle(const std::vector<double>& x, std::int64_t rows, std::int64_t cols,
                           const std::vector<double>& gamma, const std::vector<double>&,
                           double epsilon) {
    return rms_norm_oracle(x, rows, cols, gamma, epsilon);
  }
  static double f32_tolerance(const NormOracle& oracle, std::size_t i, std::int64_t chain) {
    return rms_norm_f32_tolerance(oracle.value[i], chain);
  }
};

template <typename Case>
class NormForward : public testing::Test {
 protected:
  using T = typename Case::T;
  using Norm = typename Case::Norm;
  static constexpr Dtype kDtype = DtypeOf<T>::value;
  static constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(T));
  // Columns that no block holds in its registers.
  static constexpr std::int64_t beyond_block() { return normalization::kBlockMaxCols + 7; }

  // gamma and beta may be empty: null.
  struct Input {
    Size size;
    std::vector<T> x;
    std::vector<T> gamma;
    std::vector<T> beta;
    float epsilon = 1e-5f;
    bool wants_mean = true;
    bool wants_rstd = true;
  };
  struct Result {
    std::vector<T> y;
    std::vector<float> mean;
    std::vector<float> rstd;
  };

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence(Norm::kName, kDtype, kVariants, kRoundedOperation);
  }

  static VariantId id(Variant variant) {
    return {Norm::kName, std::string(name(kDtype)), std::string(name(variant))};
  }

  static CaseContext context(Variant variant, std::string what, Size size, Layout layout = {}) {
    return {CaseId(std::string(Norm::kName) + "." + std::string(name(kDtype)) + ".rows" +
                   std::to_string(size.rows) + "_cols" + std::to_string(size.cols)),
            std::string(name(variant)),
            std::move(what),
            {size.rows, size.cols},
            {size.cols + layout.y_gap, 1}};
  }

  static std::vector<T> stored(const std::vector<double>& values) { return elements<T>(values); }

  static Input make(Size size, const std::vector<double>& x, float epsilon = 1e-5f) {
    return {size, stored(x), stored(normal(kDtype, size.cols, Tensor::b).values),
            Norm::kCentred ? stored(normal(kDtype, size.cols, Tensor::c).values) : std::vector<T>{},
            epsilon};
  }
  static Input normals(Size size, float epsilon = 1e-5f) {
    return make(size, normal(kDtype, size.rows * size.cols, Tensor::a).values, epsilon);
  }

  // The kernel that must run, packs of 16 bytes where all that it reads and writes is aligned.
  static bool is_kernel(const std::string& kernel, Variant variant, Size size, Layout layout) {
    const auto has = [&](const std::string& part) {
      return kernel.find("normalization::" + part + "<") != std::string::npos;
    };
    if (variant == Variant::naive) return has("naive");
    const auto aligned = [&](std::int64_t gap, std::int64_t offset) {
      return offset % kPack == 0 && ((size.cols + gap) % kPack == 0 || size.rows == 1);
    };
    const bool packs = aligned(layout.x_gap, layout.x_offset) &&
                       aligned(layout.y_gap, layout.y_offset) && layout.gamma_offset % kPack == 0;
    const std::string count = ", " + std::to_string(packs ? kPack : 1);
    if (variant == Variant::warp)
      return has("warp_per_row") && kernel.find(count + ", ") != std::string::npos;
    return has(packs && size.cols <= normalization::kBlockMaxCols ? "block_in_registers"
                                                                  : "block_rereading") &&
           kernel.ends_with(count + ">");
  }

  static DeviceBuffer<T> upload(const std::vector<T>& values, Stream& stream) {
    return DeviceBuffer<T>::from_host(values, stream);
  }

  // Ours, with everything checked but the values.
  Result run(Variant variant, const Input& in, Layout layout = {}) {
    const auto place = [&](std::int64_t gap, std::int64_t offset) {
      Strided view = matrix(in.size.rows, in.size.cols, in.size.cols + gap);
      view.offset = offset;
      return view;
    };
    const auto shifted = [&](const std::vector<T>& values) {
      std::vector<T> result =
          poisoned<T>(layout.gamma_offset + static_cast<std::int64_t>(values.size()));
      std::copy(values.begin(), values.end(), result.begin() + layout.gamma_offset);
      return result;
    };
    const Strided x_view = place(layout.x_gap, layout.x_offset);
    const Strided y_view = place(layout.y_gap, layout.y_offset);
    constexpr std::int64_t kBehind = 5;
    const std::vector<T> x = scatter(in.x, x_view);
    const std::vector<T> gamma = shifted(in.gamma);
    const std::vector<T> beta = shifted(in.beta);
    const auto device_x = device_input(x, x_view, stream_);
    const auto device_gamma = device_input(gamma, layout.gamma_offset, stream_);
    const auto device_beta = device_input(beta, layout.gamma_offset, stream_);
    const DeviceBuffer<T> device_y(y_view.storage_size() + kBehind);
    const auto rows = static_cast<std::size_t>(in.size.rows);
    const DeviceBuffer<float> mean(in.wants_mean ? rows : 0);
    const DeviceBuffer<float> rstd(in.wants_rstd ? rows : 0);

    Hygiene hygiene(id(variant));
    hygiene.input("x", x, device_x, stream_);
    hygiene.input("gamma", gamma, device_gamma, stream_);
    hygiene.input("beta", beta, device_beta, stream_);
    hygiene.workspace(mean);
    hygiene.workspace(rstd);
    const auto or_null = [&](const std::vector<T>& values, const DeviceBuffer<T>& device) {
      return values.empty() ? nullptr : device.data() + layout.gamma_offset;
    };
    LaunchRecorder recorder;
    const Variant ran = Norm::template run<T>(
        kg::matrix<const T>(device_x.data() + layout.x_offset, in.size.rows, in.size.cols,
                            in.size.cols + layout.x_gap),
        or_null(in.gamma, device_gamma), or_null(in.beta, device_beta), in.epsilon,
        kg::matrix<T>(device_y.data() + layout.y_offset, in.size.rows, in.size.cols,
                      in.size.cols + layout.y_gap),
        in.wants_mean ? mean.data() : nullptr, in.wants_rstd ? rstd.data() : nullptr, variant,
        stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    EXPECT_EQ(recorder.launches().size(), in.x.empty() ? 0u : 1u);
    for (const LaunchRecord& launch : recorder.launches())
      EXPECT_TRUE(is_kernel(launch.kernel_name, variant, in.size, layout))
          << launch.kernel_name << " ran";
    return {hygiene.output(device_y, y_view, stream_), mean.to_host(stream_),
            rstd.to_host(stream_)};
  }

  struct Reference {
    NormOracle oracle;
    std::vector<double> mean;
    std::vector<double> rstd;
  };
  static Reference reference(const Input& in) {
    const auto values = [](const std::vector<T>& of) { return observe(of).values; };
    const auto [rows, cols] = in.size;
    const std::vector<double> x = values(in.x);
    Reference right{Norm::oracle(x, rows, cols, values(in.gamma), values(in.beta), in.epsilon),
                    std::vector<double>(static_cast<std::size_t>(rows)),
                    {}};
    if (Norm::kCentred) right.mean = row_means_oracle(x, rows, cols).value;
    std::vector<double> squares;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double centred = x[i] - right.mean[i / static_cast<std::size_t>(cols)];
      squares.push_back(centred * centred);
    }
    for (const double square : row_means_oracle(squares, rows, cols).value)
      right.rstd.push_back(1 / std::sqrt(square + in.epsilon));
    return right;
  }

  static std::vector<double> tolerances(const NormOracle& oracle, std::int64_t chain) {
    std::vector<double> bounds;
    for (std::size_t i = 0; i < oracle.value.size(); ++i)
      bounds.push_back(
          std::isfinite(oracle.value[i])
              ? stored_tolerance(kDtype, oracle.value[i], Norm::f32_tolerance(oracle, i, chain))
              : 0);
    return bounds;
  }

  // The mean's bound is what layer_norm_f32_tolerance allows it, in units of |mean| + deviation;
  // rstd's that of an element of size rstd, whose quotient is 1, and what a mean that is off by d
  // adds to the variance: d^2, which the root halves. Squares of 16-bit numbers have few digits, so
  // the roundings of their sum are no random walk: each may be of the same sign, u of it at most.
  static void check_statistics(const Result& ours, const Reference& right, Variant variant,
                               const Input& in) {
    const double u = unit_roundoff(Dtype::f32);
    const std::int64_t chain = normalization::chain(variant, in.size.cols);
    const double walk = 1.5 * std::sqrt(static_cast<double>(chain));
    const double squares = kDtype == Dtype::f32 ? walk : static_cast<double>(chain);
    for (std::size_t r = 0; r < right.rstd.size(); ++r) {
      const double rstd = right.rstd[r];
      const bool finite = std::isfinite(rstd);
      const double mean_bound =
          Norm::kCentred ? (16 + walk) * u * (std::fabs(right.mean[r]) + 1 / rstd) : 0;
      if (in.wants_rstd && finite) {
        EXPECT_LE(std::fabs(ours.rstd[r] - rstd),
                  (8 + squares / 2) * u * rstd + std::pow(mean_bound * rstd, 2) / 2 * rstd)
            << r;
      } else if (in.wants_rstd) {
        EXPECT_FALSE(std::isfinite(ours.rstd[r])) << r;
      }
      if (Norm::kCentred && in.wants_mean && finite) {
        EXPECT_LE(std::fabs(ours.mean[r] - right.mean[r]), mean_bound) << r;
      }
    }
  }

  // Every variant that supports it on this matrix, against the oracle.
  void check(const std::string& fill, const Input& in, Layout layout = {},
             Degenerate degenerate = Degenerate::no) {
    const Reference right = reference(in);
    for (const Variant variant : kVariants) {
      if (!supports(variant, in.size.cols)) continue;
      const auto tolerance = tolerances(right.oracle, normalization::chain(variant, in.size.cols));
      const Expectation expected{
          kDtype, {in.size.rows, in.size.cols}, right.oracle.value, tolerance};
      EXPECT_TRUE(not_vacuous(expected, degenerate))
          << fill << ", " << in.size.rows << " x " << in.size.cols;
      const Result ours = run(variant, in, layout);
      EXPECT_TRUE(
          verdict(compare(observe(ours.y), expected), context(variant, fill, in.size, layout)));
      check_statistics(ours, right, variant, in);
    }
  }

  // Every variant gives exactly this.
  void check_exact(const std::string& fill, const Input& in, const std::vector<double>& value,
                   Degenerate degenerate = Degenerate::no) {
    Expectation expected{kDtype, {in.size.rows, in.size.cols}, value, {}};
    EXPECT_TRUE(not_vacuous(expected, degenerate)) << fill << ", " << in.size.cols << " columns";
    for (const Variant variant : kVariants) {
      if (!supports(variant, in.size.cols)) continue;
      EXPECT_TRUE(
          verdict(compare(observe(run(variant, in).y), expected), context(variant, fill, in.size)));
    }
  }

  Stream stream_;
};

} // namespace kg::test
