// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How reduction_test.cu runs and judges one matrix.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "runtime/launch.h"
#include "tests/support/case.h"
#include "tests/support/compare.h"
#include "tests/support/device_types.h"
#include "tests/support/fills.h"
#include "tests/support/hygiene.h"
#include "tests/support/oracle.h"
#include "tests/support/slice_hint.h"
#include "tests/support/strided.h"
#include "tests/support/tolerance.h"
#include "tests/support/vacuity.h"
#include "vendor/reduction/reduction.h"

#include "reduction/reduction.h"

namespace kg::test {

using reduction::Axis;
using reduction::kAxes;
using reduction::kVariants;
using reduction::Variant;

struct Size {
  std::int64_t rows;
  std::int64_t cols;
};

// Where x lies: elements between rows beyond cols, and before the first row.
struct Layout {
  std::int64_t gap = 0;
  std::int64_t offset = 0;
};

inline std::int64_t summed_length(Axis axis, Size size) {
  if (axis == Axis::all) return size.rows * size.cols;
  return axis == Axis::rows ? size.cols : size.rows;
}

inline vendor::SumAxis vendor_axis(Axis axis) {
  if (axis == Axis::all) return vendor::SumAxis::all;
  return axis == Axis::rows ? vendor::SumAxis::rows : vendor::SumAxis::columns;
}

inline Degenerate degenerate_of(std::size_t results) {
  return results == 0   ? Degenerate::empty
         : results == 1 ? Degenerate::single_element
                        : Degenerate::no;
}

inline SumOracle oracle_of(Axis axis, const std::vector<double>& x, Size size) {
  if (axis == Axis::all) return row_sums_oracle(x, 1, size.rows * size.cols);
  return axis == Axis::rows ? row_sums_oracle(x, size.rows, size.cols)
                            : column_sums_oracle(x, size.rows, size.cols);
}

template <typename T>
class Reduction : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("reduction", kDtype, kVariants, kRoundedOperation);
  }

  static VariantId id(Variant variant) {
    return {"reduction", "f32", std::string(reduction::name(variant))};
  }

  static CaseContext context(Axis axis, Variant variant, std::string fill, Size size) {
    return {CaseId("reduction.f32." + std::string(reduction::name(axis)) + "_r" +
                   std::to_string(size.rows) + "_c" + std::to_string(size.cols)),
            std::string(reduction::name(variant)),
            std::move(fill),
            {reduction::result_count(axis, size.rows, size.cols)},
            {}};
  }

  // Ours, with everything checked but the values.
  std::vector<T> run(Axis axis, Variant variant, const std::vector<T>& x, Size size,
                     Layout layout = {}) {
    Strided view = matrix(size.rows, size.cols, size.cols + layout.gap);
    view.offset = layout.offset;
    const std::int64_t results = reduction::result_count(axis, size.rows, size.cols);
    constexpr std::int64_t kBehind = 5;
    const std::vector<T> stored_x = scatter(x, view);
    const auto device_x = DeviceBuffer<T>::from_host(stored_x, stream_);
    const auto device_out = DeviceBuffer<T>::from_host(poisoned<T>(results + kBehind), stream_);
    const DeviceBuffer<unsigned char> workspace(
        reduction::workspace_bytes(axis, size.rows, size.cols, variant));

    Hygiene hygiene(id(variant));
    hygiene.input("x", stored_x, device_x, stream_);
    hygiene.workspace(workspace);
    LaunchRecorder recorder;
    const Variant ran = reduction::run(
        axis,
        kg::matrix<const float>(device_x.data() + layout.offset, size.rows, size.cols,
                                size.cols + layout.gap),
        device_out.data(), workspace.size() > 0 ? workspace.data() : nullptr, variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    EXPECT_EQ(recorder.launches().empty(), x.empty());
    return hygiene.output(device_out, contiguous({results}), stream_);
  }

  static std::vector<double> tolerances(Axis axis, Variant variant, const SumOracle& oracle,
                                        Size size) {
    const std::int64_t length = summed_length(axis, size);
    const std::int64_t chain =
        std::max<std::int64_t>(reduction::chain(axis, size.rows, size.cols, variant), 1);
    std::vector<double> bounds =
        sum_f32_tolerances(oracle, length, std::max<std::int64_t>(length / chain, 1));
    for (double& bound : bounds) {
      if (!std::isfinite(bound)) bound = 0; // NaN and infinity are right or wrong
    }
    return bounds;
  }

  // Every axis and variant on this matrix, within the bound.
  void check(const std::string& fill, const std::vector<double>& values, Size size,
             Layout layout = {}) {
    for (const Axis axis : kAxes) {
      const SumOracle oracle = oracle_of(axis, values, size);
      for (const Variant variant : kVariants) {
        const std::vector<double> tolerance = tolerances(axis, variant, oracle, size);
        const Expectation expected{
            kDtype, {static_cast<std::int64_t>(oracle.value.size())}, oracle.value, tolerance};
        const bool nothing = size.rows == 0 || size.cols == 0;
        const bool one = size.rows == 1 || size.cols == 1; // sums of one term are exact
        if (!nothing && !one) {
          EXPECT_TRUE(not_vacuous(expected, degenerate_of(oracle.value.size())))
              << fill << " " << reduction::name(axis);
        }
        EXPECT_TRUE(verdict(
            compare(observe(run(axis, variant, elements<T>(values), size, layout)), expected),
            context(axis, variant, fill, size)));
      }
    }
  }

  // Bit for bit.
  void check_exact(const std::string& fill, Axis axis, const std::vector<double>& values, Size size,
                   Layout layout = {}) {
    const SumOracle oracle = oracle_of(axis, values, size);
    const Expectation expected =
        exactly(kDtype, {static_cast<std::int64_t>(oracle.value.size())}, oracle.value);
    EXPECT_TRUE(not_vacuous(expected, degenerate_of(oracle.value.size()))) << fill;
    for (const Variant variant : kVariants) {
      const Comparison comparison =
          compare(observe(run(axis, variant, elements<T>(values), size, layout)), expected);
      EXPECT_TRUE(verdict(comparison, context(axis, variant, fill, size)))
          << hint(axis, values, size, comparison);
    }
  }

  // What of the summed dimension the wrong sums lack.
  static std::string hint(Axis axis, const std::vector<double>& x, Size size,
                          const Comparison& comparison) {
    const std::int64_t length = summed_length(axis, size);
    std::vector<WrongSum> wrong;
    for (const Mismatch& mismatch : comparison.first) {
      WrongSum& sum = wrong.emplace_back();
      for (std::int64_t l = 0; l < length; ++l)
        sum.terms.push_back(x[static_cast<std::size_t>(
            axis == Axis::columns ? l * size.cols + mismatch.index : mismatch.index * length + l)]);
      sum.expected = mismatch.expected;
      sum.actual = mismatch.actual;
    }
    const std::string slice = slice_hint(wrong);
    return slice.empty() ? "" : "along axis " + std::string(reduction::name(axis)) + ", " + slice;
  }

  // Integers whose sums along `axis` are exact in every order.
  static Fill exact_fill(Axis axis, SumRange range, Size size) {
    const std::int64_t length = summed_length(axis, size);
    const std::int64_t slices = size.rows * size.cols / length;
    Fill fill = exact_sums(Dtype::f32, Dtype::f32, range, slices, length);
    if (axis == Axis::columns) fill.values = transpose_oracle(fill.values, slices, length);
    return fill;
  }

  static std::vector<double> normals(Size size) {
    return normal(kDtype, size.rows * size.cols, Tensor::a).values;
  }

  Stream stream_;
};

} // namespace kg::test
