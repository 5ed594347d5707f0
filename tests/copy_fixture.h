// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How copy_test.cu runs and judges one pair of matrices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "runtime/launch.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/strided.h"
#include "tests/support/case.h"
#include "tests/support/device_types.h"
#include "tests/support/hygiene.h"
#include "tests/support/vacuity.h"

#include "copy/copy.h"

namespace kg::test {

using copy::kVariants;
using copy::Variant;

struct Size {
  std::int64_t rows;
  std::int64_t cols;
};

// Elements from row to row beyond their length, and before the first row, whose storage is aligned
// to 256 bytes.
struct Layout {
  std::int64_t x_gap = 0;
  std::int64_t y_gap = 0;
  std::int64_t x_offset = 0;
  std::int64_t y_offset = 0;
};

inline Strided rows_of(Size size, std::int64_t gap, std::int64_t offset) {
  Strided view = matrix(size.rows, size.cols, size.cols + gap);
  view.offset = offset;
  return view;
}

template <typename T>
class Copy : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;
  static constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(T));

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("copy", kDtype, kVariants, moving_evidence(kDtype));
  }

  static VariantId id(Variant variant) {
    return {"copy", std::string(name(kDtype)), std::string(copy::name(variant))};
  }

  static CaseContext context(Variant variant, std::string fill, Size size, Layout layout = {}) {
    return {CaseId("copy." + std::string(name(kDtype)) + ".rows" + std::to_string(size.rows) +
                   "_cols" + std::to_string(size.cols)),
            std::string(copy::name(variant)),
            std::move(fill),
            {size.rows, size.cols},
            {size.cols + layout.y_gap, 1}};
  }

  // The kernel that must run: shifted loads where some row of x is aligned otherwise than its row
  // of y.
  static std::string kernel_of(Variant variant, Size size, Layout layout) {
    if (variant == Variant::naive) return "copy::naive<";
    const bool one_row = size.rows == 1 || (layout.x_gap == 0 && layout.y_gap == 0);
    const bool together = (layout.x_offset - layout.y_offset) % kPack == 0 &&
                          (one_row || (layout.x_gap - layout.y_gap) % kPack == 0);
    return together ? "copy::vectorized<false" : "copy::vectorized<true";
  }

  // Ours, with everything checked but the values.
  std::vector<T> run(Variant variant, const std::vector<T>& x, Size size, Layout layout = {}) {
    const Strided x_view = rows_of(size, layout.x_gap, layout.x_offset);
    const Strided y_view = rows_of(size, layout.y_gap, layout.y_offset);
    constexpr std::int64_t kBehind = 5;
    const std::vector<T> stored_x = scatter(x, x_view);
    const auto device_x = device_input(stored_x, x_view, stream_);
    const DeviceBuffer<T> device_y(y_view.storage_size() + kBehind);

    Hygiene hygiene(id(variant));
    hygiene.input("x", stored_x, device_x, stream_);
    LaunchRecorder recorder;
    const Variant ran = copy::run(kg::matrix<const T>(device_x.data() + layout.x_offset, size.rows,
                                                      size.cols, size.cols + layout.x_gap),
                                  kg::matrix<T>(device_y.data() + layout.y_offset, size.rows,
                                                size.cols, size.cols + layout.y_gap),
                                  variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    EXPECT_EQ(recorder.launches().size(), x.empty() ? 0u : 1u);
    for (const LaunchRecord& launch : recorder.launches())
      EXPECT_NE(launch.kernel_name.find(kernel_of(variant, size, layout)), std::string::npos)
          << launch.kernel_name;
    return hygiene.output(device_y, y_view, stream_);
  }

  // The variants on bit patterns of all kinds (the first is 0).
  void check(Size size, Layout layout = {}) {
    for (const Variant variant : kVariants) check(variant, size, layout);
  }
  void check(Variant variant, Size size, Layout layout) {
    const std::vector<std::uint64_t> bits = unique_bits(kDtype, size.rows * size.cols);
    const std::vector<std::int64_t> shape = {size.rows, size.cols};
    EXPECT_TRUE(not_vacuous_bits(kDtype, shape, bits,
                                 bits.size() == 1 ? Degenerate::zero : Degenerate::no));
    const Observed y = observe(run(variant, elements_of_bits<T>(bits), size, layout));
    EXPECT_TRUE(
        verdict(compare_bits(y, shape, bits), context(variant, "unique_bits", size, layout)));
  }

  Stream stream_;
};

} // namespace kg::test
