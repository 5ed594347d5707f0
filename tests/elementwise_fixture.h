// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How elementwise_test.cu runs and judges one pair of arrays.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "runtime/launch.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/strided.h"
#include "tests/support/case.h"
#include "tests/support/device_types.h"
#include "tests/support/hygiene.h"
#include "tests/support/vacuity.h"
#include "vendor/elementwise/elementwise.h"

#include "elementwise/elementwise.h"

namespace kg::test {

using elementwise::kOps;
using elementwise::kVariants;
using elementwise::Op;
using elementwise::Variant;

using FloatsAndDouble = testing::Types<float, f16, bf16, double>;
using ElementTypes = testing::Types<float, f16, bf16, double, std::int32_t>;

inline BinaryOp oracle_op(Op op) {
  switch (op) {
  case Op::add: return BinaryOp::add;
  case Op::sub: return BinaryOp::sub;
  case Op::mul: return BinaryOp::mul;
  case Op::div: return BinaryOp::div;
  }
  return BinaryOp::add;
}

inline vendor::Binary vendor_op(Op op) {
  switch (op) {
  case Op::add: return vendor::Binary::add;
  case Op::sub: return vendor::Binary::sub;
  case Op::mul: return vendor::Binary::mul;
  case Op::div: return vendor::Binary::div;
  }
  return vendor::Binary::add;
}

// Elements between the start of each array's storage, which is aligned to 256 bytes, and the array.
struct Offsets {
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t out = 0;
};

template <typename T>
class Elementwise : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;
  static constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(T));
  static constexpr bool kInteger = kDtype == Dtype::i32;
  // One that tells its operands apart, where the type has any but the sum.
  static constexpr Op kOrdered = elementwise::supports(Op::sub, kDtype) ? Op::sub : Op::add;

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("elementwise", kDtype, kVariants,
                     kInteger ? kExactIntegerOperation : kExactOperation);
  }

  static std::vector<Op> ops() {
    std::vector<Op> supported;
    for (const Op op : kOps)
      if (elementwise::supports(op, kDtype)) supported.push_back(op);
    return supported;
  }

  static VariantId id(Variant variant) {
    return {"elementwise", std::string(name(kDtype)), std::string(elementwise::name(variant))};
  }

  // The kernel that must run: packs where one shift aligns all three arrays.
  static std::string kernel_of(Variant variant, Offsets offsets) {
    if (variant == Variant::naive) return "elementwise::naive";
    const bool together =
        offsets.a % kPack == offsets.b % kPack && offsets.b % kPack == offsets.out % kPack;
    return together ? "elementwise::vectorized" : "elementwise::misaligned";
  }

  static CaseContext context(Op op, Variant variant, std::string fill, std::size_t n) {
    return {CaseId("elementwise." + std::string(name(kDtype)) + "." +
                   std::string(elementwise::name(op)) + "_n" + std::to_string(n)),
            std::string(elementwise::name(variant)),
            std::move(fill),
            {static_cast<std::int64_t>(n)},
            {}};
  }

  // Ours, with everything checked but the values.
  std::vector<T> run(Op op, Variant variant, const std::vector<T>& a, const std::vector<T>& b,
                     Offsets offsets = {}) {
    const auto n = static_cast<std::int64_t>(a.size());
    constexpr std::int64_t kBehind = 5;
    const std::vector<T> stored_a = scatter(a, contiguous({n}, offsets.a));
    const std::vector<T> stored_b = scatter(b, contiguous({n}, offsets.b));
    const auto device_a = device_input(stored_a, offsets.a, stream_);
    const auto device_b = device_input(stored_b, offsets.b, stream_);
    const DeviceBuffer<T> device_out(offsets.out + n + kBehind);

    Hygiene hygiene(id(variant));
    hygiene.input("a", stored_a, device_a, stream_);
    hygiene.input("b", stored_b, device_b, stream_);
    LaunchRecorder recorder;
    const Variant ran =
        elementwise::run(op, device_a.data() + offsets.a, device_b.data() + offsets.b,
                         device_out.data() + offsets.out, n, variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    EXPECT_EQ(recorder.launches().size(), n > 0 ? 1u : 0u);
    for (const LaunchRecord& launch : recorder.launches())
      EXPECT_NE(launch.kernel_name.find(kernel_of(variant, offsets)), std::string::npos)
          << launch.kernel_name;
    return hygiene.output(device_out, contiguous({n}, offsets.out), stream_);
  }

  // Every variant on these values, against the oracle.
  void check(Op op, const std::string& fill, const std::vector<T>& a, const std::vector<T>& b,
             Offsets offsets = {}, Degenerate degenerate = Degenerate::no) {
    const std::vector<double> expected = oracle(op, a, b);
    const Expectation expectation =
        exactly(kDtype, {static_cast<std::int64_t>(a.size())}, expected);
    EXPECT_TRUE(not_vacuous(expectation, degenerate)) << fill;
    for (const Variant variant : kVariants) {
      const std::vector<T> result = run(op, variant, a, b, offsets);
      EXPECT_TRUE(
          verdict(compare(observe(result), expectation), context(op, variant, fill, a.size())));
    }
  }

  static std::vector<double> oracle(Op op, const std::vector<T>& a, const std::vector<T>& b) {
    return elementwise_oracle(oracle_op(op), kDtype, observe(a).values, observe(b).values);
  }

  // Of integers: of all sizes, so that results wrap around.
  static std::vector<T> normals(std::int64_t n, Tensor tensor) {
    constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 1;
    return elements<T>(
        (kInteger ? integers(kDtype, n, kMost, tensor) : normal(kDtype, n, tensor)).values);
  }

  static FillPair exact(Op op, std::int64_t n) {
    if (!kInteger) return exact_elementwise(kDtype, oracle_op(op), n);
    return {"integers", "", observe(normals(n, Tensor::a)).values,
            observe(normals(n, Tensor::b)).values};
  }

  // Each against each: of floats special_values, of integers the ends of the range.
  static BitPairs specials() {
    if constexpr (kInteger) {
      const std::vector<std::int32_t> ends = {INT32_MIN, INT32_MIN + 1, -1,       0,
                                              1,         INT32_MAX - 1, INT32_MAX};
      BitPairs pairs;
      for (const std::int32_t a : ends)
        for (const std::int32_t b : ends) {
          pairs.a.push_back(raw_bits(a));
          pairs.b.push_back(raw_bits(b));
        }
      return pairs;
    } else {
      return special_pairs(kDtype);
    }
  }

  Stream stream_;
};

} // namespace kg::test
