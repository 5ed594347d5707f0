// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How permute_test.cu runs and judges one tensor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "runtime/launch.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_layout.h"
#include "tests/oracle/strided.h"
#include "tests/support/case.h"
#include "tests/support/device_types.h"
#include "tests/support/hygiene.h"
#include "tests/support/vacuity.h"

#include "permute/permute.h"

namespace kg::test {

using permute::kVariants;
using permute::Permutation;
using permute::Variant;

using Shape = std::vector<std::int64_t>;
using Order = std::vector<int>;

// Elements between the start of each tensor's storage, which is aligned to 256 bytes, and the
// tensor.
struct Offsets {
  std::int64_t x = 0;
  std::int64_t y = 0;
};

inline Permutation permutation_of(const Shape& shape, const Order& order) {
  Permutation result;
  result.rank = static_cast<int>(shape.size());
  std::copy(shape.begin(), shape.end(), result.shape.begin());
  std::copy(order.begin(), order.end(), result.order.begin());
  return result;
}

// "_2x3x4_120"
inline std::string text(const Shape& shape, const Order& order) {
  std::string result;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    result += d == 0 ? '_' : 'x';
    result += std::to_string(shape[d]);
  }
  result += '_';
  for (const int axis : order) result += std::to_string(axis);
  return result;
}

template <typename T>
class Permute : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;
  static constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(T));

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("permute", kDtype, kVariants, moving_evidence(kDtype));
  }

  static VariantId id(Variant variant) {
    return {"permute", std::string(name(kDtype)), std::string(permute::name(variant))};
  }

  static CaseContext context(Variant variant, std::string fill, const Shape& shape,
                             const Order& order) {
    return {CaseId("permute." + std::string(name(kDtype)) + ".x" + text(shape, order)),
            std::string(permute::name(variant)),
            std::move(fill),
            permuted_shape(shape, order),
            {}};
  }

  // Ours, with everything checked but the values. `kernel`: what must run; empty: any of ours.
  std::vector<T> run(Variant variant, const std::vector<T>& x, const Shape& shape,
                     const Order& order, Offsets offsets = {}, const std::string& kernel = "") {
    const Strided x_view = contiguous(shape, offsets.x);
    const Strided y_view = contiguous(permuted_shape(shape, order), offsets.y);
    constexpr std::int64_t kBehind = 5;
    const std::vector<T> stored_x = scatter(x, x_view);
    const auto device_x = device_input(stored_x, offsets.x, stream_);
    const DeviceBuffer<T> device_y(y_view.storage_size() + kBehind);

    Hygiene hygiene(id(variant));
    hygiene.input("x", stored_x, device_x, stream_);
    LaunchRecorder recorder;
    const Variant ran = permute::run<T>(device_x.data() + offsets.x, device_y.data() + offsets.y,
                                        permutation_of(shape, order), variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    EXPECT_EQ(recorder.launches().size(), x.empty() ? 0u : 1u);
    const std::string expected =
        variant == Variant::naive || kernel.empty() ? "permute::" : "permute::" + kernel;
    for (const LaunchRecord& launch : recorder.launches())
      EXPECT_NE(launch.kernel_name.find(variant == Variant::naive ? "permute::naive" : expected),
                std::string::npos)
          << launch.kernel_name;
    return hygiene.output(device_y, y_view, stream_);
  }

  // Every variant on bit patterns of all kinds (the first is 0).
  void check(const Shape& shape, const Order& order, Offsets offsets = {},
             const std::string& kernel = "") {
    const std::vector<std::uint64_t> bits = unique_bits(kDtype, element_count(shape));
    const std::vector<std::uint64_t> expected = permute_oracle(bits, shape, order);
    const Shape y_shape = permuted_shape(shape, order);
    EXPECT_TRUE(not_vacuous_bits(kDtype, y_shape, expected,
                                 bits.size() == 1 ? Degenerate::zero : Degenerate::no));
    const auto x = elements_of_bits<T>(bits);
    for (const Variant variant : kVariants) {
      const Observed y = observe(run(variant, x, shape, order, offsets, kernel));
      EXPECT_TRUE(verdict(compare_bits(y, y_shape, expected),
                          context(variant, "unique_bits", shape, order)));
    }
  }

  Stream stream_;
};

} // namespace kg::test
