// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How softmax_test.cu runs and judges one matrix, of either kind.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "runtime/device.h"
#include "runtime/launch.h"
#include "tests/support/case.h"
#include "tests/oracle/compare.h"
#include "tests/support/device_types.h"
#include "tests/oracle/fills.h"
#include "tests/support/hygiene.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/oracle_rows.h"
#include "tests/oracle/strided.h"
#include "tests/oracle/tolerance.h"
#include "tests/oracle/tolerance_softmax.h"
#include "tests/support/vacuity.h"
#include "tests/oracle/vendor_comparison.h"
#include "vendor/softmax/softmax.h"

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

template <typename T, softmax::Kind kind>
class SoftmaxOf : public testing::Test {
 protected:
  static constexpr bool kLog = kind == softmax::Kind::log_softmax;
  static constexpr Dtype kDtype = DtypeOf<T>::value;
  static constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(T));

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    for (const softmax::Variant variant : softmax::kVariants)
      require_evidence(id(variant), kRoundedOperation);
  }

  // Evidence is needed of either kind.
  static std::string label(softmax::Variant variant) {
    return (kLog ? "log_" : "") + std::string(softmax::name(variant));
  }
  static VariantId id(softmax::Variant variant) {
    return {"softmax", std::string(name(kDtype)), label(variant)};
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
    return {CaseId("softmax." + std::string(name(kDtype)) + (kLog ? ".log_rows" : ".rows") +
                   std::to_string(size.rows) + "_cols" + std::to_string(size.cols)),
            label(variant),
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
    const auto device_x = device_input(stored_x, x_view, stream_);
    const DeviceBuffer<T> device_y(y_view.storage_size() + kBehind);

    Hygiene hygiene(id(variant));
    hygiene.input("x", stored_x, device_x, stream_);
    LaunchRecorder recorder;
    const softmax::Variant ran =
        softmax::run<T>(kind,
                        kg::matrix<const T>(device_x.data() + layout.x_offset, size.rows, size.cols,
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
    std::vector<double> value;
    // Accuracies are compared in u times what the result is conditioned on, and in half the
    // smallest number where it is tiny.
    std::vector<double> unit;
    SoftmaxOracle softmax;
    LogSoftmaxOracle log;

    std::vector<double> tolerances(std::int64_t chain) const {
      return kLog ? log_softmax_tolerances(log, kDtype, chain)
                  : softmax_tolerances(softmax, kDtype, chain);
    }
  };

  static Reference reference(const std::vector<T>& x, Size size) {
    Reference right;
    const std::vector<double> values = observe(x).values;
    if (kLog)
      right.log = log_softmax_oracle(values, size.rows, size.cols);
    else
      right.softmax = softmax_oracle(values, size.rows, size.cols);
    right.value = kLog ? right.log.value : right.softmax.value;
    const auto& distances = kLog ? right.log.distance : right.softmax.distance;
    for (std::size_t i = 0; i < right.value.size(); ++i) {
      const double distance = std::isfinite(distances[i]) ? distances[i] : 0;
      const double value = std::isfinite(right.value[i]) ? std::fabs(right.value[i]) : 0;
      const double f32 =
          kLog ? 1 + value + distance + right.log.log_sum[i] : value * (1 + distance);
      right.unit.push_back(f32 * unit_roundoff(Dtype::f32) +
                           (kDtype == Dtype::f32 ? 0 : value * unit_roundoff(kDtype)) +
                           half_min_subnormal(kDtype));
    }
    return right;
  }

  // Every variant that supports it on this matrix, against the oracle.
  void check(const std::string& fill, const std::vector<double>& values, Size size,
             Layout layout = {}, Degenerate degenerate = Degenerate::no) {
    const std::vector<T> x = elements<T>(values);
    const Reference right = reference(x, size);
    for (const softmax::Variant variant : softmax::kVariants) {
      if (!softmax::supports(variant, size.cols)) continue;
      const std::vector<double> tolerance = right.tolerances(softmax::chain(variant, size.cols));
      const Expectation expected{
          kDtype, {size.rows, size.cols}, right.value, tolerance, right.unit};
      EXPECT_TRUE(not_vacuous(expected, degenerate))
          << fill << ", " << size.rows << " x " << size.cols;
      const std::vector<T> y = run(variant, x, size, layout);
      EXPECT_TRUE(verdict(compare(observe(y), expected), context(variant, fill, size, layout)));
      if (!kLog) {
        EXPECT_TRUE(rows_sum_to_one(y, size)) << softmax::name(variant);
      }
    }
  }

  // The same beside every vendor.
  void check_vendors(Size size) {
    const auto form = kLog ? vendor::SoftmaxKind::log_softmax : vendor::SoftmaxKind::softmax;
    const auto vendors = vendor::softmax_variants(form, kDtype);
    if (vendors.empty()) report_no_vendor("softmax", kDtype, kLog ? "log" : "");
    const std::vector<T> x = elements<T>(normals(size));
    const Reference right = reference(x, size);
    for (const softmax::Variant variant : softmax::kVariants) {
      if (!softmax::supports(variant, size.cols)) continue;
      const auto tolerance = right.tolerances(softmax::chain(variant, size.cols));
      // A library may add its row up one by one.
      const auto vendor_tolerance = right.tolerances(size.cols);
      Expectation expected{kDtype, {size.rows, size.cols}, right.value, tolerance};
      // naive adds a row up one by one: within its bound, though no library is so inaccurate.
      if (variant != softmax::Variant::naive) expected.unit = right.unit;
      const Observed ours = observe(run(variant, x, size)); // before the vendor writes the same
      EXPECT_TRUE(verdict(compare(ours, expected), context(variant, "normal", size)));
      for (const std::string_view vendor : vendors) {
        const auto device_x = DeviceBuffer<T>::from_host(x, stream_);
        const DeviceBuffer<T> device_y(x.size());
        vendor::softmax(vendor, form, kDtype, device_x.data(), device_y.data(), size.rows,
                        size.cols, stream_);
        const Observed theirs = observe(device_y.to_host(stream_));
        EXPECT_TRUE(verdict(compare_with_vendor(ours, theirs, expected, vendor_tolerance),
                            context(variant, "normal beside " + std::string(vendor), size)));
      }
    }
  }

  // One special value in each place that a thread, a pack or a row could lose; the other rows stay
  // as they are.
  void check_special_values(std::int64_t cols) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    const double largest = max_finite(kDtype);
    std::vector<double> x;
    std::int64_t rows = 0;
    const auto add_row = [&](double everywhere,
                             std::vector<std::pair<std::int64_t, double>> special) {
      std::vector<double> row = normal(kDtype, cols, Tensor::b).values;
      if (everywhere != 0) std::fill(row.begin(), row.end(), everywhere);
      for (const auto& [place, value] : special) row[static_cast<std::size_t>(place)] = value;
      x.insert(x.end(), row.begin(), row.end());
      ++rows;
    };
    for (const double special : {kNan, kInfinity, -kInfinity}) {
      add_row(0, {{cols - 1, special}});
      if (cols < 4096) add_row(0, {{0, special}});
      if (cols < 4096) add_row(0, {{cols / 2, special}});
      add_row(special, {});
    }
    add_row(-kInfinity, {{cols - 1, -3}});
    add_row(-kInfinity, {{0, kNan}});
    add_row(-kInfinity, {{cols / 2, kInfinity}});
    add_row(kNan, {{cols - 1, kInfinity}});
    add_row(-largest, {});
    add_row(largest, {});
    add_row(-largest, {{cols / 2, largest}});
    add_row(largest, {{cols - 1, -kInfinity}});
    check("special", x, {rows, cols});
  }

  // The same bits where y is x.
  void check_in_place(Size size) {
    const std::vector<T> x = elements<T>(normals(size));
    for (const softmax::Variant variant : softmax::kVariants) {
      if (!softmax::supports(variant, size.cols)) continue;
      const auto device = DeviceBuffer<T>::from_host(x, stream_);
      softmax::run<T>(kind, kg::matrix<const T>(device.data(), size.rows, size.cols),
                      kg::matrix<T>(device.data(), size.rows, size.cols), variant, stream_);
      EXPECT_EQ(fnv1a64(device.to_host(stream_)), fnv1a64(run(variant, x, size)))
          << softmax::name(variant);
      EXPECT_NO_THROW(device.check_guards());
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

template <typename T>
class Softmax : public SoftmaxOf<T, softmax::Kind::softmax> {};
template <typename T>
class LogSoftmax : public SoftmaxOf<T, softmax::Kind::log_softmax> {};

} // namespace kg::test
