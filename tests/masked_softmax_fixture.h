// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How masked_softmax_test.cu runs and judges one matrix under one mask.
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
#include "tests/oracle/compare.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_masked_softmax.h"
#include "tests/oracle/random.h"
#include "tests/oracle/strided.h"
#include "tests/oracle/tolerance.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/support/case.h"
#include "tests/support/device_types.h"
#include "tests/support/hygiene.h"
#include "tests/support/vacuity.h"
#include "vendor/masked_softmax/masked_softmax.h"

#include "masked_softmax/masked_softmax.h"

namespace kg::test {

struct Size {
  std::int64_t rows;
  std::int64_t cols;
};

// Elements from row to row beyond `cols`, and before the first row.
struct Layout {
  std::int64_t x_gap = 0;
  std::int64_t mask_gap = 0;
  std::int64_t y_gap = 0;
  std::int64_t x_offset = 0;
  std::int64_t mask_offset = 0;
  std::int64_t y_offset = 0;
};

using masked_softmax::Form;
using masked_softmax::kVariants;
using masked_softmax::Variant;

// Of most tests. A power of two: scaled elements are then exact, and ExactPlateaus may use it.
inline constexpr float kScale = 0.125f;

// `keep` says what either form keeps; `queries` is 0 for the boolean one.
struct TestMask {
  std::vector<std::uint8_t> keep;
  std::int64_t queries = 0;
};

inline TestMask causal(Size size, std::int64_t queries) {
  return {causal_keep(size.rows, size.cols, queries), queries};
}

// Three of four elements kept, by any byte but 0.
inline TestMask random_mask(Size size) {
  const Random random(seed(), 31);
  TestMask mask;
  for (std::int64_t i = 0; i < size.rows * size.cols; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    mask.keep.push_back(random.chance(index, 0.75)
                            ? static_cast<std::uint8_t>(random.integer(index, 1, 255))
                            : std::uint8_t{0});
  }
  return mask;
}

template <typename T>
class MaskedSoftmax : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;
  static constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(T));

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    for (const Form form : {Form::boolean, Form::causal})
      for (const Variant variant : kVariants)
        require_evidence(id(form, variant), kRoundedOperation);
  }

  // Evidence is needed of either form.
  static std::string label(Form form, Variant variant) {
    return std::string(masked_softmax::name(form)) + "_" +
           std::string(masked_softmax::name(variant));
  }
  static VariantId id(Form form, Variant variant) {
    return {"masked_softmax", std::string(name(kDtype)), label(form, variant)};
  }
  static Form form_of(const TestMask& mask) {
    return mask.queries == 0 ? Form::boolean : Form::causal;
  }

  static CaseContext context(const TestMask& mask, Variant variant, std::string fill, Size size,
                             Layout layout = {}) {
    const std::string queries = mask.queries == 0 ? "" : "_queries" + std::to_string(mask.queries);
    return {CaseId("masked_softmax." + std::string(name(kDtype)) + "." +
                   std::string(masked_softmax::name(form_of(mask))) + "_rows" +
                   std::to_string(size.rows) + "_cols" + std::to_string(size.cols) + queries),
            label(form_of(mask), variant),
            std::move(fill),
            {size.rows, size.cols},
            {size.cols + layout.y_gap, 1}};
  }

  // Whether this is the kernel that must run, packs where every row is aligned.
  static bool is_right_kernel(const std::string& kernel, const TestMask& mask, Variant variant,
                              Size size, Layout layout) {
    const auto aligned = [&](std::int64_t gap, std::int64_t offset) {
      return offset % kPack == 0 && ((size.cols + gap) % kPack == 0 || size.rows == 1);
    };
    const bool packs = aligned(layout.x_gap, layout.x_offset) &&
                       aligned(layout.y_gap, layout.y_offset) &&
                       (mask.queries > 0 || aligned(layout.mask_gap, layout.mask_offset));
    const std::string pack = std::to_string(packs ? kPack : 1);
    const auto has = [&](const std::string& part) {
      return kernel.find(part) != std::string::npos;
    };
    switch (variant) {
    case Variant::naive: return has("masked_softmax::naive<");
    case Variant::warp: return has("masked_softmax::warp_per_row<") && has(", " + pack + ", ");
    case Variant::block: return has("::block_per_row<") && kernel.ends_with(", " + pack + ">");
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
  std::vector<T> run(const TestMask& mask, Variant variant, const std::vector<T>& x, Size size,
                     Layout layout = {}) {
    const Strided y_view = place(size, layout.y_gap, layout.y_offset);
    constexpr std::int64_t kBehind = 5;
    const Strided x_view = place(size, layout.x_gap, layout.x_offset);
    const auto stored_x = scatter(x, x_view);
    const Strided mask_view = place(size, layout.mask_gap, layout.mask_offset);
    std::vector<std::uint8_t> stored_mask(static_cast<std::size_t>(mask_view.storage_size()), 255);
    for (std::int64_t i = 0; i < mask_view.size(); ++i)
      stored_mask[static_cast<std::size_t>(mask_view.place(i))] =
          mask.keep[static_cast<std::size_t>(i)];
    const auto device_x = device_input(stored_x, x_view, stream_);
    const auto device_mask = device_input(stored_mask, mask_view, stream_);
    const DeviceBuffer<T> device_y(y_view.storage_size() + kBehind);

    const Form form = form_of(mask);
    Hygiene hygiene(id(form, variant));
    hygiene.input("x", stored_x, device_x, stream_);
    hygiene.input("mask", stored_mask, device_mask, stream_);
    LaunchRecorder recorder;
    const Variant ran = masked_softmax::run<T>(
        scale_,
        kg::matrix<const T>(device_x.data() + layout.x_offset, size.rows, size.cols,
                            size.cols + layout.x_gap),
        form == Form::causal ? masked_softmax::causal_mask(mask.queries)
                             : masked_softmax::boolean_mask(kg::matrix<const std::uint8_t>(
                                   device_mask.data() + layout.mask_offset, size.rows, size.cols,
                                   size.cols + layout.mask_gap)),
        kg::matrix<T>(device_y.data() + layout.y_offset, size.rows, size.cols,
                      size.cols + layout.y_gap),
        variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    EXPECT_EQ(recorder.launches().size(), x.empty() ? 0u : 1u);
    for (const LaunchRecord& launch : recorder.launches())
      EXPECT_TRUE(is_right_kernel(launch.kernel_name, mask, variant, size, layout))
          << launch.kernel_name;
    return hygiene.output(device_y, y_view, stream_);
  }

  // Every variant that supports it, against the oracle.
  void check(const std::string& fill, const TestMask& mask, const std::vector<double>& values,
             Size size, Layout layout = {}, Degenerate degenerate = Degenerate::no) {
    const std::vector<T> x = elements<T>(values);
    const SoftmaxOracle right =
        masked_softmax_oracle(scale_, observe(x).values, mask.keep, size.rows, size.cols);
    for (const Variant variant : kVariants) {
      if (!masked_softmax::supports(variant, size.cols)) continue;
      const auto tolerance =
          softmax_tolerances(right, kDtype, masked_softmax::chain(variant, size.cols));
      const Expectation expected{kDtype, {size.rows, size.cols}, right.value, tolerance};
      EXPECT_TRUE(not_vacuous(expected, degenerate))
          << fill << ", " << size.rows << " x " << size.cols;
      const std::vector<T> y = run(mask, variant, x, size, layout);
      EXPECT_TRUE(
          verdict(compare(observe(y), expected), context(mask, variant, fill, size, layout)));
    }
  }

  // What the vendors add to the scaled elements; a causal mask is every sequence's.
  static std::vector<T> addend_of(const TestMask& mask, Size size) {
    const std::int64_t queries = mask.queries == 0 ? size.rows : mask.queries;
    std::vector<double> addend;
    for (std::int64_t i = 0; i < queries * size.cols; ++i)
      addend.push_back(mask.keep[static_cast<std::size_t>(i)] != 0
                           ? 0
                           : -std::numeric_limits<double>::infinity());
    return elements<T>(addend);
  }

  // Beside every vendor. kScale is a power of two: what they store before the softmax is exact.
  void check_vendors(const TestMask& mask, Size size) {
    const Form form = form_of(mask);
    const auto vendors = vendor::masked_softmax_variants(kDtype);
    if (vendors.empty()) report_no_vendor("masked_softmax", kDtype, masked_softmax::name(form));
    const std::vector<T> x = elements<T>(logits(size));
    const SoftmaxOracle right =
        masked_softmax_oracle(kScale, observe(x).values, mask.keep, size.rows, size.cols);
    // A library may add its row up one by one.
    const auto vendor_tolerance = softmax_tolerances(right, kDtype, size.cols);
    const std::int64_t queries = mask.queries == 0 ? size.rows : mask.queries;
    for (const Variant variant : kVariants) {
      if (!masked_softmax::supports(variant, size.cols)) continue;
      const auto tolerance =
          softmax_tolerances(right, kDtype, masked_softmax::chain(variant, size.cols));
      const Expectation expected{kDtype, {size.rows, size.cols}, right.value, tolerance};
      const Observed ours = observe(run(mask, variant, x, size)); // before the vendor
      for (const std::string_view vendor : vendors) {
        const auto device_x = DeviceBuffer<T>::from_host(x, stream_);
        const auto addend = DeviceBuffer<T>::from_host(addend_of(mask, size), stream_);
        const DeviceBuffer<T> y(x.size());
        vendor::masked_softmax(vendor, {kDtype, kScale, size.rows / queries, queries, size.cols},
                               device_x.data(), addend.data(), y.data(), stream_);
        EXPECT_TRUE(verdict(
            compare_with_vendor(ours, observe(y.to_host(stream_)), expected, vendor_tolerance),
            context(mask, variant, "normal beside " + std::string(vendor), size)));
      }
    }
  }

  // Large enough that the scaled ones are normal.
  static std::vector<double> logits(Size size) {
    std::vector<double> x = normal(kDtype, size.rows * size.cols, Tensor::a).values;
    for (double& value : x) value *= 8;
    return x;
  }

  float scale_ = kScale;
  Stream stream_;
};

} // namespace kg::test
