// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How softmax_backward_test.cu runs and judges one pair of matrices, of either kind.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "runtime/device.h"
#include "runtime/launch.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/oracle_rows.h"
#include "tests/oracle/oracle_softmax_backward.h"
#include "tests/oracle/strided.h"
#include "tests/oracle/tolerance_softmax.h"
#include "tests/support/case.h"
#include "tests/support/device_types.h"
#include "tests/support/hygiene.h"
#include "tests/support/vacuity.h"

#include "softmax_backward/softmax_backward.h"

namespace kg::test {

struct Size {
  std::int64_t rows;
  std::int64_t cols;
};

// Elements from row to row beyond `cols`, and before the first row.
struct Layout {
  std::int64_t y_gap = 0;
  std::int64_t dy_gap = 0;
  std::int64_t dx_gap = 0;
  std::int64_t y_offset = 0;
  std::int64_t dy_offset = 0;
  std::int64_t dx_offset = 0;
};

using softmax_backward::Kind;
using softmax_backward::kVariants;
using softmax_backward::Variant;

template <typename T>
class SoftmaxBackward : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;
  static constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(T));

  struct Inputs {
    std::vector<T> y;
    std::vector<T> dy;
  };

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    for (const Kind kind : softmax::kKinds)
      for (const Variant variant : kVariants)
        require_evidence(id(kind, variant), kRoundedOperation);
  }

  // Evidence is needed of either kind.
  static std::string label(Kind kind, Variant variant) {
    return (kind == Kind::log_softmax ? "log_" : "") + std::string(softmax_backward::name(variant));
  }
  static VariantId id(Kind kind, Variant variant) {
    return {"softmax_backward", std::string(name(kDtype)), label(kind, variant)};
  }

  // Rows of which no block's shared memory holds y and dy.
  static std::int64_t beyond_shared() {
    constexpr auto kBytes = 2 * static_cast<std::int64_t>(sizeof(T));
    return static_cast<std::int64_t>(device_properties().shared_bytes_per_block_optin) / kBytes + 7;
  }

  static CaseContext context(Kind kind, Variant variant, std::string fill, Size size,
                             Layout layout = {}) {
    return {CaseId("softmax_backward." + std::string(name(kDtype)) +
                   (kind == Kind::log_softmax ? ".log_rows" : ".rows") + std::to_string(size.rows) +
                   "_cols" + std::to_string(size.cols)),
            label(kind, variant),
            std::move(fill),
            {size.rows, size.cols},
            {size.cols + layout.dx_gap, 1}};
  }

  static bool packs_fit(Size size, Layout layout) {
    const auto aligned = [&](std::int64_t gap, std::int64_t offset) {
      return offset % kPack == 0 && ((size.cols + gap) % kPack == 0 || size.rows == 1);
    };
    return aligned(layout.y_gap, layout.y_offset) && aligned(layout.dy_gap, layout.dy_offset) &&
           aligned(layout.dx_gap, layout.dx_offset);
  }

  // Whether this is the kernel that must run, packs of 16 bytes where every row is aligned.
  static bool is_right_kernel(const std::string& kernel, Variant variant, Size size,
                              Layout layout) {
    const std::string pack = std::to_string(packs_fit(size, layout) ? kPack : 1);
    const auto has = [&](const std::string& part) {
      return kernel.find(part) != std::string::npos;
    };
    switch (variant) {
    case Variant::naive: return has("softmax_backward::naive<");
    case Variant::warp: return has("softmax_backward::warp_per_row<") && has(", " + pack + ", ");
    case Variant::block:
      return has(size.cols < beyond_shared() - 100 ? "::block_in_shared<" : "::block_two_reads<") &&
             kernel.ends_with(", " + pack + ">");
    case Variant::automatic: break;
    }
    return false;
  }

  static Strided place(Size size, std::int64_t gap, std::int64_t offset) {
    Strided view = matrix(size.rows, size.cols, size.cols + gap);
    view.offset = offset;
    return view;
  }

  // Ours, with everything checked but the values.
  std::vector<T> run(Kind kind, Variant variant, const Inputs& in, Size size, Layout layout = {}) {
    const Strided dx_view = place(size, layout.dx_gap, layout.dx_offset);
    constexpr std::int64_t kBehind = 5;
    const Strided y_view = place(size, layout.y_gap, layout.y_offset);
    const Strided dy_view = place(size, layout.dy_gap, layout.dy_offset);
    const auto y = scatter(in.y, y_view);
    const auto dy = scatter(in.dy, dy_view);
    const auto device_y = device_input(y, y_view, stream_);
    const auto device_dy = device_input(dy, dy_view, stream_);
    const DeviceBuffer<T> device_dx(dx_view.storage_size() + kBehind);

    Hygiene hygiene(id(kind, variant));
    hygiene.input("y", y, device_y, stream_);
    hygiene.input("dy", dy, device_dy, stream_);
    LaunchRecorder recorder;
    const auto view = [&](auto* data, std::int64_t gap, std::int64_t offset) {
      return kg::matrix(data + offset, size.rows, size.cols, size.cols + gap);
    };
    const T* const from_y = device_y.data();
    const T* const from_dy = device_dy.data();
    const Variant ran = softmax_backward::run<T>(
        kind, view(from_y, layout.y_gap, layout.y_offset),
        view(from_dy, layout.dy_gap, layout.dy_offset),
        view(device_dx.data(), layout.dx_gap, layout.dx_offset), variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    EXPECT_EQ(recorder.launches().size(), in.y.empty() ? 0u : 1u);
    for (const LaunchRecord& launch : recorder.launches())
      EXPECT_TRUE(is_right_kernel(launch.kernel_name, variant, size, layout)) << launch.kernel_name;
    return hygiene.output(device_dx, dx_view, stream_);
  }

  struct Reference {
    SoftmaxBackwardOracle oracle;
    std::vector<double> unit; // u times the condition, for comparisons with a vendor
    Kind kind;

    std::vector<double> tolerances(std::int64_t chain) const {
      return softmax_backward_tolerances(oracle, kDtype, chain,
                                         kind == Kind::softmax
                                             ? softmax_backward_f32_tolerance
                                             : log_softmax_backward_f32_tolerance);
    }
  };

  static Reference reference(Kind kind, const Inputs& in, Size size) {
    const auto oracle =
        kind == Kind::softmax ? softmax_backward_oracle : log_softmax_backward_oracle;
    Reference right{
        oracle(observe(in.y).values, observe(in.dy).values, size.rows, size.cols), {}, kind};
    for (std::size_t i = 0; i < right.oracle.value.size(); ++i) {
      const double value = std::fabs(right.oracle.value[i]);
      const double condition = right.oracle.weight[i] * right.oracle.sum_abs[i] + value;
      const double unit = condition * unit_roundoff(Dtype::f32) +
                          (kDtype == Dtype::f32 ? 0 : value * unit_roundoff(kDtype)) +
                          half_min_subnormal(kDtype);
      right.unit.push_back(std::isfinite(unit) ? unit : 1);
    }
    return right;
  }

  // Every kind and variant that supports it on these matrices, against the oracle.
  void check(Kind kind, const std::string& fill, const Inputs& in, Size size, Layout layout = {},
             Degenerate degenerate = Degenerate::no) {
    const Reference right = reference(kind, in, size);
    for (const Variant variant : kVariants) {
      if (!softmax_backward::supports(variant, size.cols)) continue;
      const auto tolerance = right.tolerances(softmax_backward::chain(variant, size.cols));
      const Expectation expected{
          kDtype, {size.rows, size.cols}, right.oracle.value, tolerance, right.unit};
      EXPECT_TRUE(not_vacuous(expected, degenerate))
          << fill << ", " << size.rows << " x " << size.cols;
      const std::vector<T> dx = run(kind, variant, in, size, layout);
      EXPECT_TRUE(
          verdict(compare(observe(dx), expected), context(kind, variant, fill, size, layout)));
    }
  }

  // What a forward run gives of normal logits, as it is stored, and a normal gradient.
  static Inputs normals(Kind kind, Size size) {
    const auto logits = normal(kDtype, size.rows * size.cols, Tensor::a).values;
    std::vector<double> y = kind == Kind::softmax
                                ? softmax_oracle(logits, size.rows, size.cols).value
                                : log_softmax_oracle(logits, size.rows, size.cols).value;
    for (double& value : y) value = round_to(kDtype, value);
    return {elements<T>(y), elements<T>(normal(kDtype, size.rows * size.cols, Tensor::b).values)};
  }

  Stream stream_;
};

} // namespace kg::test
