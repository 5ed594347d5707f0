// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How elementwise_backward_test.cu runs and judges one triple of arrays.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "runtime/launch.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_elementwise.h"
#include "tests/oracle/strided.h"
#include "tests/support/case.h"
#include "tests/support/device_types.h"
#include "tests/support/hygiene.h"
#include "tests/support/vacuity.h"

#include "elementwise_backward/elementwise_backward.h"

namespace kg::test {

using elementwise_backward::kOps;
using elementwise_backward::kVariants;
using elementwise_backward::Op;
using elementwise_backward::Variant;

// Elements between the start of each array's storage, which is aligned to 256 bytes, and the array.
struct Offsets {
  std::int64_t dy = 0;
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t da = 0;
  std::int64_t db = 0;
};

template <typename T>
struct Inputs {
  std::vector<T> dy, a, b;
};

template <typename T>
struct Results {
  std::vector<T> da, db;
};

template <typename T>
class ElementwiseBackward : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;
  static constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(T));

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("elementwise_backward", kDtype, kVariants, kRoundedOperation);
  }

  static VariantId id(Variant variant) {
    return {"elementwise_backward", std::string(name(kDtype)),
            std::string(elementwise_backward::name(variant))};
  }

  // The kernel that must run: packs where one shift aligns all five arrays.
  static std::string kernel_of(Variant variant, Offsets at) {
    if (variant == Variant::naive) return "elementwise_backward::naive";
    const bool together = at.dy % kPack == at.a % kPack && at.a % kPack == at.b % kPack &&
                          at.b % kPack == at.da % kPack && at.da % kPack == at.db % kPack;
    return together ? "elementwise_backward::vectorized" : "elementwise_backward::misaligned";
  }

  static CaseContext context(Op op, Variant variant, const std::string& fill, std::size_t n) {
    return {CaseId("elementwise_backward." + std::string(name(kDtype)) + "." +
                   std::string(elementwise_backward::name(op)) + "_n" + std::to_string(n)),
            std::string(elementwise_backward::name(variant)),
            fill,
            {static_cast<std::int64_t>(n)},
            {}};
  }

  // Ours, with everything checked but the values.
  Results<T> run(Op op, Variant variant, const Inputs<T>& in, Offsets at = {}) {
    const auto n = static_cast<std::int64_t>(in.dy.size());
    constexpr std::int64_t kBehind = 5;
    const std::vector<T> stored_dy = scatter(in.dy, contiguous({n}, at.dy));
    const std::vector<T> stored_a = scatter(in.a, contiguous({n}, at.a));
    const std::vector<T> stored_b = scatter(in.b, contiguous({n}, at.b));
    const auto dy = device_input(stored_dy, at.dy, stream_);
    const auto a = device_input(stored_a, at.a, stream_);
    const auto b = device_input(stored_b, at.b, stream_);
    const DeviceBuffer<T> da(at.da + n + kBehind);
    const DeviceBuffer<T> db(at.db + n + kBehind);

    Hygiene hygiene(id(variant));
    hygiene.input("dy", stored_dy, dy, stream_);
    hygiene.input("a", stored_a, a, stream_);
    hygiene.input("b", stored_b, b, stream_);
    LaunchRecorder recorder;
    const Variant ran =
        elementwise_backward::run<T>(op, dy.data() + at.dy, a.data() + at.a, b.data() + at.b,
                                     da.data() + at.da, db.data() + at.db, n, variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    EXPECT_EQ(recorder.launches().size(), n > 0 ? 1u : 0u);
    for (const LaunchRecord& launch : recorder.launches())
      EXPECT_NE(launch.kernel_name.find(kernel_of(variant, at)), std::string::npos)
          << launch.kernel_name;
    return {hygiene.output(da, contiguous({n}, at.da), stream_),
            hygiene.output(db, contiguous({n}, at.db), stream_)};
  }

  static BinaryGradients oracle(Op op, const Inputs<T>& in) {
    const BinaryOp of = op == Op::mul ? BinaryOp::mul : BinaryOp::div;
    return binary_gradients_oracle(of, kDtype, observe(in.dy).values, observe(in.a).values,
                                   observe(in.b).values);
  }

  void compare_both(Op op, Variant variant, const std::string& fill, const Results<T>& result,
                    const BinaryGradients& expected) {
    const auto n = static_cast<std::int64_t>(result.da.size());
    EXPECT_TRUE(verdict(compare(observe(result.da), exactly(kDtype, {n}, expected.da)),
                        context(op, variant, fill + ", da", result.da.size())));
    EXPECT_TRUE(verdict(compare(observe(result.db), exactly(kDtype, {n}, expected.db)),
                        context(op, variant, fill + ", db", result.db.size())));
  }

  // Every operation and variant on these values, against the oracle.
  void check(const std::string& fill, const Inputs<T>& in, Offsets at = {},
             Degenerate degenerate = Degenerate::no) {
    const auto n = static_cast<std::int64_t>(in.dy.size());
    for (const Op op : kOps) {
      const BinaryGradients expected = oracle(op, in);
      EXPECT_TRUE(not_vacuous(exactly(kDtype, {n}, expected.da), degenerate)) << fill;
      EXPECT_TRUE(not_vacuous(exactly(kDtype, {n}, expected.db), degenerate)) << fill;
      for (const Variant variant : kVariants)
        compare_both(op, variant, fill, run(op, variant, in, at), expected);
    }
  }

  static std::vector<T> normals(std::int64_t n, Tensor tensor) {
    return elements<T>(normal(kDtype, n, tensor).values);
  }
  static Inputs<T> normals(std::int64_t n) {
    return {normals(n, Tensor::a), normals(n, Tensor::b), normals(n, Tensor::c)};
  }

  Stream stream_;
};

} // namespace kg::test
