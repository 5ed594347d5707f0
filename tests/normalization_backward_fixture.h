// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How the tests of rmsnorm_backward and layernorm_backward run and judge one problem. What differs
// between the two is a Norm (in rmsnorm_backward_test.cu and layernorm_backward_test.cu).
#pragma once

#include <algorithm>
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
#include "tests/oracle/oracle_norm_backward.h"
#include "tests/oracle/oracle_rows.h"
#include "tests/oracle/strided.h"
#include "tests/support/case.h"
#include "tests/support/hygiene.h"
#include "tests/support/vacuity.h"

#include "normalization/backward_variants.h"

namespace kg::test {

using normalization::backward::kVariants;
using normalization::backward::supports;
using normalization::backward::Variant;

// Elements from row to row beyond `cols`, and before the first one.
struct Layout {
  std::int64_t dy_gap = 0;
  std::int64_t x_gap = 0;
  std::int64_t dx_gap = 0;
  std::int64_t dy_offset = 0;
  std::int64_t x_offset = 0;
  std::int64_t dx_offset = 0;
  std::int64_t gamma_offset = 0;
};

template <typename Case>
class NormBackward : public testing::Test {
 protected:
  using T = typename Case::T;
  using Norm = typename Case::Norm;
  static constexpr Dtype kDtype = DtypeOf<T>::value;
  static constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(T));
  // Columns that no block holds in its registers.
  static constexpr std::int64_t beyond_block() {
    return normalization::backward::kBlockMaxCols + 7;
  }

  // gamma may be empty: null. What is not wanted is null. mean is empty where the
  // norm has none.
  struct Input {
    Size size;
    std::vector<T> dy;
    std::vector<T> x;
    std::vector<T> gamma;
    std::vector<float> mean;
    std::vector<float> rstd;
    bool wants_dgamma = true;
    bool wants_dbeta = Norm::kCentred;
    bool columns() const { return wants_dgamma || wants_dbeta; }
  };
  // dbeta is empty where the norm has none.
  struct Result {
    std::vector<T> dx;
    std::vector<T> dgamma;
    std::vector<T> dbeta;

    std::vector<T> all() const {
      std::vector<T> values = dx;
      values.insert(values.end(), dgamma.begin(), dgamma.end());
      values.insert(values.end(), dbeta.begin(), dbeta.end());
      return values;
    }
  };

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence(Norm::kName, kDtype, kVariants, kRoundedOperation);
  }

  static VariantId id(Variant variant) {
    return {Norm::kName, std::string(name(kDtype)), std::string(name(variant))};
  }

  static CaseContext context(Variant variant, const std::string& what, Size size,
                             std::vector<std::int64_t> shape, Layout layout = {}) {
    return {CaseId(std::string(Norm::kName) + "." + std::string(name(kDtype)) + ".rows" +
                   std::to_string(size.rows) + "_cols" + std::to_string(size.cols)),
            std::string(name(variant)), what, shape,
            shape.size() == 2 ? std::vector<std::int64_t>{size.cols + layout.dx_gap, 1}
                              : std::vector<std::int64_t>{}};
  }

  static std::vector<T> stored(const std::vector<double>& values) { return elements<T>(values); }
  static std::vector<double> wide(const std::vector<T>& values) { return observe(values).values; }

  // With the statistics of x, epsilon 1e-5, as a forward run stores them.
  static Input make(Size size, const std::vector<double>& dy, const std::vector<double>& x) {
    Input in{size, stored(dy), stored(x), stored(normal(kDtype, size.cols, Tensor::c).values),
             {},   {}};
    const std::vector<double> means = row_means_oracle(wide(in.x), size.rows, size.cols).value;
    std::vector<double> squares;
    for (std::size_t i = 0; i < in.x.size(); ++i) {
      const double centre = Norm::kCentred ? means[i / static_cast<std::size_t>(size.cols)] : 0;
      squares.push_back((to_double(in.x[i]) - centre) * (to_double(in.x[i]) - centre));
    }
    for (const double mean : means)
      if (Norm::kCentred) in.mean.push_back(static_cast<float>(mean));
    for (const double square : row_means_oracle(squares, size.rows, size.cols).value)
      in.rstd.push_back(static_cast<float>(1 / std::sqrt(square + 1e-5)));
    return in;
  }
  static Input normals(Size size) {
    const std::int64_t count = size.rows * size.cols;
    std::vector<double> x = normal(kDtype, count, Tensor::b).values;
    for (double& value : x) value = round_to(kDtype, value + 0.5); // else both norms nearly agree
    return make(size, normal(kDtype, count, Tensor::a).values, x);
  }

  // The kernels that must run, packs of 16 bytes where all rows are aligned.
  static std::vector<std::string> kernels(Variant variant, const Input& in, Layout layout) {
    const auto [rows, cols] = in.size;
    if (cols == 0) return {};
    const auto aligned = [&](std::int64_t gap, std::int64_t offset) {
      return offset % kPack == 0 && ((in.size.cols + gap) % kPack == 0 || in.size.rows <= 1);
    };
    const bool packs = aligned(layout.dy_gap, layout.dy_offset) &&
                       aligned(layout.x_gap, layout.x_offset) &&
                       aligned(layout.dx_gap, layout.dx_offset) && layout.gamma_offset % kPack == 0;
    const std::int64_t count = packs ? kPack : 1;
    const bool few = variant == Variant::warp && packs && cols <= count * 32;
    const std::string pack = ", " + std::to_string(count);
    const std::string held =
        pack + ", " + std::to_string(few ? 1 : normalization::backward::kHeld / count) + ">";
    std::vector<std::string> names;
    const auto add = [&](bool runs, const std::string& kernel) {
      if (runs) names.push_back(kernel);
    };
    if (variant == Variant::naive) {
      add(in.columns(), "naive_columns<");
      add(rows > 0, "naive_rows<");
      return names;
    }
    if (variant == Variant::warp) {
      add(rows > 0, "warp_per_row<" + held);
    } else if (packs && cols <= normalization::backward::kBlockMaxCols) {
      add(rows > 0, "block_per_row<" + held);
    } else {
      add(rows > 0 && in.columns(), "column_partials<" + pack + ">");
      add(rows > 0, "block_rereading<" + pack + ">");
    }
    add(in.columns(), "sum_partials<");
    return names;
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

  template <typename Element>
  static DeviceBuffer<Element> upload(const std::vector<Element>& values, Stream& stream) {
    return DeviceBuffer<Element>::from_host(values, stream);
  }

  // Ours, with everything checked but the values.
  Result run(Variant variant, const Input& in, Layout layout = {}) {
    const auto place = [&](std::int64_t gap, std::int64_t offset) {
      Strided view = matrix(in.size.rows, in.size.cols, in.size.cols + gap);
      view.offset = offset;
      return view;
    };
    const Strided dx_view = place(layout.dx_gap, layout.dx_offset);
    const Strided column_view = contiguous({in.columns() ? in.size.cols : 0});
    constexpr std::int64_t kBehind = 5;
    const Strided dy_view = place(layout.dy_gap, layout.dy_offset);
    const Strided x_view = place(layout.x_gap, layout.x_offset);
    const std::vector<T> dy = scatter(in.dy, dy_view);
    const std::vector<T> x = scatter(in.x, x_view);
    std::vector<T> gamma =
        poisoned<T>(layout.gamma_offset + static_cast<std::int64_t>(in.gamma.size()));
    std::copy(in.gamma.begin(), in.gamma.end(), gamma.begin() + layout.gamma_offset);
    const auto device_dy = device_input(dy, dy_view, stream_);
    const auto device_x = device_input(x, x_view, stream_);
    const auto device_gamma = device_input(gamma, layout.gamma_offset, stream_);
    const auto device_mean = upload(in.mean, stream_);
    const auto device_rstd = upload(in.rstd, stream_);
    const DeviceBuffer<T> device_dx(dx_view.storage_size() + kBehind);
    const DeviceBuffer<T> dgamma(column_view.storage_size() + kBehind);
    const DeviceBuffer<T> dbeta(column_view.storage_size() + kBehind);
    const DeviceBuffer<unsigned char> workspace(
        in.columns() ? Norm::workspace_bytes(variant, in.size.rows, in.size.cols) : 0);

    Hygiene hygiene(id(variant));
    hygiene.input("dy", dy, device_dy, stream_);
    hygiene.input("x", x, device_x, stream_);
    hygiene.input("gamma", gamma, device_gamma, stream_);
    hygiene.input("mean", in.mean, device_mean, stream_);
    hygiene.input("rstd", in.rstd, device_rstd, stream_);
    hygiene.workspace(workspace);
    LaunchRecorder recorder;
    const auto view = [&](auto* data, std::int64_t gap, std::int64_t offset) {
      return kg::matrix(data + offset, in.size.rows, in.size.cols, in.size.cols + gap);
    };
    const T* const from_dy = device_dy.data();
    const T* const from_x = device_x.data();
    const Variant ran = Norm::template run<T>(
        view(from_dy, layout.dy_gap, layout.dy_offset), view(from_x, layout.x_gap, layout.x_offset),
        in.gamma.empty() ? nullptr : device_gamma.data() + layout.gamma_offset, device_mean.data(),
        device_rstd.data(), view(device_dx.data(), layout.dx_gap, layout.dx_offset),
        in.wants_dgamma ? dgamma.data() : nullptr, in.wants_dbeta ? dbeta.data() : nullptr,
        workspace.size() > 0 ? workspace.data() : nullptr, variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    check_launches(recorder.launches(), kernels(variant, in, layout));
    Result result{hygiene.output(device_dx, dx_view, stream_), {}, {}};
    if (in.wants_dgamma) result.dgamma = hygiene.output(dgamma, column_view, stream_);
    if (in.wants_dbeta) result.dbeta = hygiene.output(dbeta, column_view, stream_);
    return result;
  }

  static NormBackwardOracle reference(const Input& in) {
    const auto doubles = [](const std::vector<float>& of) {
      return std::vector<double>(of.begin(), of.end());
    };
    return norm_backward_oracle(wide(in.dy), wide(in.x), in.size.rows, in.size.cols, wide(in.gamma),
                                doubles(in.mean), doubles(in.rstd));
  }

  // One variant's results against the oracle.
  void check(Variant variant, const std::string& fill, const Input& in,
             const NormBackwardOracle& right, Layout layout, Degenerate degenerate) {
    const std::int64_t rows = in.size.rows;
    const std::int64_t cols = in.size.cols;
    const Result ours = run(variant, in, layout);
    const auto compare_with = [&](const std::string& what, const std::vector<T>& values,
                                  std::vector<std::int64_t> shape, const std::vector<double>& value,
                                  const std::vector<double>& tolerance, Degenerate reason) {
      const Expectation expected{kDtype, shape, value, tolerance};
      // naive stands for all: what is expected is the same, and so, nearly, are the bounds.
      if (variant == Variant::naive) {
        EXPECT_TRUE(not_vacuous(expected, reason)) << what << ", " << fill << ", " << cols;
      }
      EXPECT_TRUE(verdict(compare(observe(values), expected),
                          context(variant, what + " of " + fill, in.size, shape, layout)));
    };
    compare_with("dx", ours.dx, {rows, cols}, right.dx,
                 norm_backward_dx_tolerances(right, kDtype,
                                             normalization::backward::row_chain(variant, cols)),
                 degenerate);
    const std::int64_t chain = normalization::backward::column_chain(variant, rows, cols);
    const auto single = [&](const std::vector<double>& sums) {
      if (cols > 1) return Degenerate::no;
      return sums[0] == 0 ? Degenerate::zero : Degenerate::single_element;
    };
    if (in.wants_dgamma)
      compare_with("dgamma", ours.dgamma, {cols}, right.dgamma,
                   norm_backward_column_tolerances(right.dgamma, right.dgamma_abs, kDtype, chain),
                   single(right.dgamma));
    if (in.wants_dbeta)
      compare_with("dbeta", ours.dbeta, {cols}, right.dbeta,
                   norm_backward_column_tolerances(right.dbeta, right.dbeta_abs, kDtype, chain),
                   single(right.dbeta));
  }

  // Every variant that supports it.
  void check(const std::string& fill, const Input& in, Layout layout = {},
             Degenerate degenerate = Degenerate::no) {
    const NormBackwardOracle right = reference(in);
    for (const Variant variant : kVariants)
      if (supports(variant, in.size.cols)) check(variant, fill, in, right, layout, degenerate);
  }

  Stream stream_;
};

} // namespace kg::test
