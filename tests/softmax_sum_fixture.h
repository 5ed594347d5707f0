// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How softmax_sum_test.cu runs and judges one set of tensors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "runtime/launch.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_softmax_sum.h"
#include "tests/oracle/strided.h"
#include "tests/support/case.h"
#include "tests/support/device_types.h"
#include "tests/support/hygiene.h"
#include "tests/support/vacuity.h"

#include "softmax_sum/softmax_sum.h"

namespace kg::test {

using softmax_sum::kVariants;
using softmax_sum::Variant;

// Elements between the start of each array's storage, which is aligned to 256 bytes, and the array.
struct Offsets {
  std::int64_t x = 0;
  std::int64_t alpha = 0;
  std::int64_t y = 0;
};

// alpha.size() tensors, one behind the other.
template <typename T>
struct Inputs {
  std::vector<T> x, alpha;

  std::int64_t terms() const { return static_cast<std::int64_t>(alpha.size()); }
  std::int64_t n() const { return static_cast<std::int64_t>(x.size()) / terms(); }
};

template <typename T>
class SoftmaxSum : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;
  static constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(T));
  // What a block of the vectorized kernel takes at once.
  static constexpr std::int64_t kTile = 256 * kPack;

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("softmax_sum", kDtype, kVariants, kRoundedOperation);
  }

  static VariantId id(Variant variant) {
    return {"softmax_sum", std::string(name(kDtype)), std::string(softmax_sum::name(variant))};
  }

  static CaseContext context(Variant variant, std::string fill, const Inputs<T>& in) {
    return {CaseId("softmax_sum." + std::string(name(kDtype)) + ".k" + std::to_string(in.terms()) +
                   "_n" + std::to_string(in.n())),
            std::string(softmax_sum::name(variant)),
            std::move(fill),
            {in.n()},
            {}};
  }

  // Ours, with everything checked but the values.
  std::vector<T> run(Variant variant, const Inputs<T>& in, Offsets offsets = {}) {
    constexpr std::int64_t kBehind = 5;
    const std::int64_t n = in.n();
    const std::vector<T> stored_x = scatter(in.x, contiguous({in.terms() * n}, offsets.x));
    const std::vector<T> stored_alpha = scatter(in.alpha, contiguous({in.terms()}, offsets.alpha));
    const auto x = device_input(stored_x, offsets.x, stream_);
    const auto alpha = device_input(stored_alpha, offsets.alpha, stream_);
    const DeviceBuffer<T> y(offsets.y + n + kBehind);

    Hygiene hygiene(id(variant));
    hygiene.input("x", stored_x, x, stream_);
    hygiene.input("alpha", stored_alpha, alpha, stream_);
    LaunchRecorder recorder;
    const Variant ran = softmax_sum::run<T>(x.data() + offsets.x, alpha.data() + offsets.alpha,
                                            y.data() + offsets.y, in.terms(), n, variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    EXPECT_EQ(recorder.launches().size(), n > 0 ? 1u : 0u);
    const std::string kernel = "softmax_sum::" + std::string(softmax_sum::name(variant));
    for (const LaunchRecord& launch : recorder.launches())
      EXPECT_NE(launch.kernel_name.find(kernel), std::string::npos) << launch.kernel_name;
    return hygiene.output(y, contiguous({n}, offsets.y), stream_);
  }

  static SoftmaxSumOracle oracle(const Inputs<T>& in) {
    return softmax_sum_oracle(kDtype, observe(in.x).values, observe(in.alpha).values);
  }

  // Every variant on these values, against the oracle.
  void check(const std::string& fill, const Inputs<T>& in, Offsets offsets = {},
             Degenerate degenerate = Degenerate::no) {
    const SoftmaxSumOracle right = oracle(in);
    const Expectation expectation{kDtype, {in.n()}, right.value, right.tolerance};
    if (in.n() < 2) degenerate = in.n() == 0 ? Degenerate::empty : Degenerate::single_element;
    EXPECT_TRUE(not_vacuous(expectation, degenerate)) << fill;
    for (const Variant variant : kVariants)
      EXPECT_TRUE(verdict(compare(observe(run(variant, in, offsets)), expectation),
                          context(variant, fill, in)));
  }

  static Inputs<T> normals(std::int64_t terms, std::int64_t n) {
    return {elements<T>(normal(kDtype, terms * n, Tensor::a).values),
            elements<T>(normal(kDtype, terms, Tensor::b).values)};
  }

  Stream stream_;
};

} // namespace kg::test
