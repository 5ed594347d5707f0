// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How softmax_test.cu runs and judges one matrix.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "runtime/device.h"
#include "runtime/launch.h"
#include "tests/support/case.h"
#include "tests/support/compare.h"
#include "tests/support/device_types.h"
#include "tests/support/fills.h"
#include "tests/support/hygiene.h"
#include "tests/support/oracle.h"
#include "tests/support/strided.h"
#include "tests/support/tolerance.h"
#include "tests/support/vacuity.h"

#include "softmax/softmax.h"

namespace kg::test {

struct Size {
  std::int64_t rows;
  std::int64_t cols;
};

// Elements from row to row beyond `cols`, and before the first row.
struct Layout {
  std::int64_t x_gap = 0;
  std::int64_t y_gap = 0;
  std::int64_t x_offset = 0;
  std::int64_t y_offset = 0;
};

template <typename T>
class Softmax : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;
  static constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(T));

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("softmax", kDtype, softmax::kVariants, kRoundedOperation);
  }

  static VariantId id(softmax::Variant variant) {
    return {"softmax", std::string(name(kDtype)), std::string(softmax::name(variant))};
  }

  // Rows that no block's shared memory holds as f32.
  static std::int64_t beyond_shared() {
    return static_cast<std::int64_t>(device_properties().shared_bytes_per_block_optin / 4) + 7;
  }

  static Strided place(Size size, std::int64_t gap, std::int64_t offset) {
    Strided view = matrix(size.rows, size.cols, size.cols + gap);
    view.offset = offset;
    return view;
  }

  static CaseContext context(softmax::Variant variant, std::string fill, Size size,
                             Layout layout = {}) {
    return {CaseId("softmax." + std::string(name(kDtype)) + ".rows" + std::to_string(size.rows) +
                   "_cols" + std::to_string(size.cols)),
            std::string(softmax::name(variant)),
            std::move(fill),
            {size.rows, size.cols},
            {size.cols + layout.y_gap, 1}};
  }

  // The kernel that must run, packs of 16 bytes where every row of both matrices is aligned.
  static std::string kernel_of(softmax::Variant variant, Size size, Layout layout) {
    if (variant == softmax::Variant::naive) return "softmax::naive<";
    if (variant == softmax::Variant::warp) return "softmax::warp_per_row<";
    const auto aligned = [&](std::int64_t gap, std::int64_t offset) {
      return offset % kPack == 0 && ((size.cols + gap) % kPack == 0 || size.rows == 1);
    };
    const bool packs =
        aligned(layout.x_gap, layout.x_offset) && aligned(layout.y_gap, layout.y_offset);
    return std::string(size.cols < beyond_shared() - 500 ? "softmax::block_in_shared<"
                                                         : "softmax::block_two_reads<") +
           (packs ? "packs" : "elements");
  }
  static bool is_kernel(const std::string& kernel, const std::string& expected) {
    const std::size_t end = expected.find('<') + 1;
    const std::string pack = ", " + std::to_string(expected.ends_with("packs") ? kPack : 1) + ">";
    return kernel.find(expected.substr(0, end)) != std::string::npos &&
           (expected.size() == end || kernel.ends_with(pack));
  }

  // Ours, with everything checked but the values.
  std::vector<T> run(softmax::Variant variant, const std::vector<T>& x, Size size,
                     Layout layout = {}) {
    const Strided x_view = place(size, layout.x_gap, layout.x_offset);
    const Strided y_view = place(size, layout.y_gap, layout.y_offset);
    constexpr std::int64_t kBehind = 5;
    const std::vector<T> stored_x = scatter(x, x_view);
    const auto device_x = DeviceBuffer<T>::from_host(stored_x, stream_);
    const auto device_y =
        DeviceBuffer<T>::from_host(poisoned<T>(y_view.storage_size() + kBehind), stream_);

    Hygiene hygiene(id(variant));
    hygiene.input("x", stored_x, device_x, stream_);
    LaunchRecorder recorder;
    const softmax::Variant ran =
        softmax::run<T>(kg::matrix<const T>(device_x.data() + layout.x_offset, size.rows, size.cols,
                                            size.cols + layout.x_gap),
                        kg::matrix<T>(device_y.data() + layout.y_offset, size.rows, size.cols,
                                      size.cols + layout.y_gap),
                        variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    EXPECT_EQ(recorder.launches().size(), x.empty() ? 0u : 1u);
    for (const LaunchRecord& launch : recorder.launches())
      EXPECT_TRUE(is_kernel(launch.kernel_name, kernel_of(variant, size, layout)))
          << launch.kernel_name << " ran, not " << kernel_of(variant, size, layout);
    return hygiene.output(device_y, y_view, stream_);
  }

  struct Reference {
    SoftmaxOracle oracle;
    std::vector<double> unit;
  };

  // Accuracies are compared in u times what the result is conditioned on, and in half the smallest
  // number where it is tiny.
  static Reference reference(const std::vector<T>& x, Size size) {
    Reference result{softmax_oracle(observe(x).values, size.rows, size.cols), {}};
    for (std::size_t i = 0; i < result.oracle.value.size(); ++i) {
      const double distance =
          std::isfinite(result.oracle.distance[i]) ? result.oracle.distance[i] : 0;
      const double condition = std::isfinite(result.oracle.value[i]) ? result.oracle.value[i] : 0;
      result.unit.push_back(condition * (unit_roundoff(Dtype::f32) * (1 + distance) +
                                         (kDtype == Dtype::f32 ? 0 : unit_roundoff(kDtype))) +
                            half_min_subnormal(kDtype));
    }
    return result;
  }

  // Every variant that supports it on this matrix, against the oracle.
  void check(const std::string& fill, const std::vector<double>& values, Size size,
             Layout layout = {}, Degenerate degenerate = Degenerate::no) {
    const std::vector<T> x = elements<T>(values);
    const Reference right = reference(x, size);
    for (const softmax::Variant variant : softmax::kVariants) {
      if (!softmax::supports(variant, size.cols)) continue;
      const std::vector<double> tolerance =
          softmax_tolerances(right.oracle, kDtype, softmax::chain(variant, size.cols));
      const Expectation expected{
          kDtype, {size.rows, size.cols}, right.oracle.value, tolerance, right.unit};
      EXPECT_TRUE(not_vacuous(expected, degenerate))
          << fill << ", " << size.rows << " x " << size.cols;
      const std::vector<T> y = run(variant, x, size, layout);
      EXPECT_TRUE(verdict(compare(observe(y), expected), context(variant, fill, size, layout)));
      EXPECT_TRUE(rows_sum_to_one(y, size)) << softmax::name(variant);
    }
  }

  // Or to NaN, where the whole row is.
  static testing::AssertionResult rows_sum_to_one(const std::vector<T>& y, Size size) {
    for (std::int64_t r = 0; r < size.rows; ++r) {
      double sum = 0;
      double largest = 0;
      for (std::int64_t c = 0; c < size.cols; ++c) {
        const double p = to_double(y[static_cast<std::size_t>(r * size.cols + c)]);
        sum += p;
        largest = std::max(largest, p);
      }
      const double bound = softmax_row_sum_tolerance(kDtype, size.cols, largest);
      if (size.cols > 0 && !std::isnan(sum) && !(std::fabs(sum - 1) <= bound))
        return testing::AssertionFailure()
               << "row " << r << " sums to 1 + " << sum - 1 << ", allowed " << bound;
    }
    return testing::AssertionSuccess();
  }

  static std::vector<double> normals(Size size) {
    return normal(kDtype, size.rows * size.cols, Tensor::a).values;
  }

  Stream stream_;
};

} // namespace kg::test
