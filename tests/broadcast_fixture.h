// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How broadcast_test.cu runs and judges one pair of tensors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "runtime/launch.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/oracle_elementwise.h"
#include "tests/oracle/strided.h"
#include "tests/support/case.h"
#include "tests/support/device_types.h"
#include "tests/support/hygiene.h"
#include "tests/support/vacuity.h"
#include "vendor/broadcast/broadcast.h"

#include "broadcast/broadcast.h"

namespace kg::test {

using broadcast::kOps;
using broadcast::kVariants;
using broadcast::Op;
using broadcast::Variant;
using Extents = std::vector<std::int64_t>;

struct Shapes {
  Extents a;
  Extents b;
};

// Rows longer and shorter than a pack, of odd and even lengths, and each operand repeated in each
// place.
inline std::vector<Shapes> patterns() {
  return {
      {{17, 192}, {192}},                 // bias
      {{33, 67}, {67}},                   // bias, rows no multiple of a pack
      {{700, 3}, {3}},                    // bias, rows shorter than a pack
      {{67}, {33, 67}},                   // the first operand repeated
      {{2, 3, 16, 16}, {1, 3, 1, 1}},     // channels
      {{2, 5, 7, 9}, {5, 1, 1}},          // channels, odd
      {{2, 5, 1, 1}, {2, 5, 9, 11}},      // channels of each image, first operand
      {{29, 130}, {29, 1}},               // a number per row
      {{4099}, {}},                       // a scalar
      {{1, 1}, {23, 89}},                 // a scalar, first operand
      {{37, 1}, {41}},                    // outer product
      {{2, 1, 3, 1, 8}, {4, 1, 2, 8}},    // both repeated, rank 5
      {{3, 1, 5, 1, 2}, {3, 7, 1, 4, 2}}, // both repeated, short rows
      {{6, 1, 8}, {6, 7, 1}},             // both repeated, the second along the rows
      {{3, 1, 4, 5}, {2, 1, 5}},          // nothing merges
      {{13, 1, 101}, {13, 1, 101}},       // equal
  };
}

// Elements between the start of each tensor's storage, which is aligned to 256 bytes, and itself.
struct Offsets {
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t out = 0;
};

inline std::string text(const Extents& shape) {
  if (shape.empty()) return "scalar";
  std::string list;
  for (const std::int64_t extent : shape) {
    if (!list.empty()) list += 'x';
    list += std::to_string(extent);
  }
  return list;
}

inline BinaryOp oracle_op(Op op) {
  switch (op) {
  case Op::add: return BinaryOp::add;
  case Op::sub: return BinaryOp::sub;
  case Op::mul: return BinaryOp::mul;
  case Op::div: return BinaryOp::div;
  }
  return BinaryOp::add;
}

// NumPy's rule, by itself.
inline Extents shape_of_result(const Shapes& shapes) {
  Extents a = shapes.a;
  Extents b = shapes.b;
  a.insert(a.begin(), b.size() > a.size() ? b.size() - a.size() : 0, 1);
  b.insert(b.begin(), a.size() - b.size(), 1);
  for (std::size_t d = 0; d < a.size(); ++d)
    if (a[d] == 1) a[d] = b[d];
  return a;
}

inline vendor::BroadcastShapes vendor_shapes(const Shapes& shapes) {
  vendor::BroadcastShapes padded;
  padded.a.fill(1);
  padded.b.fill(1);
  std::copy(shapes.a.rbegin(), shapes.a.rend(), padded.a.rbegin());
  std::copy(shapes.b.rbegin(), shapes.b.rend(), padded.b.rbegin());
  return padded;
}

template <typename T>
class Broadcast : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;
  static constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(T));

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("broadcast", kDtype, kVariants, kExactOperation);
  }

  static VariantId id(Variant variant) {
    return {"broadcast", std::string(name(kDtype)), std::string(broadcast::name(variant))};
  }

  static CaseContext context(Op op, Variant variant, std::string fill, const Shapes& shapes) {
    return {CaseId("broadcast." + std::string(name(kDtype)) + "." +
                   std::string(broadcast::name(op)) + "_a" + text(shapes.a) + "_b" +
                   text(shapes.b)),
            std::string(broadcast::name(variant)),
            std::move(fill),
            shape_of_result(shapes),
            {}};
  }

  // Ours, with everything checked but the values.
  std::vector<T> run(Op op, Variant variant, const Shapes& shapes, const std::vector<T>& a,
                     const std::vector<T>& b, Offsets offsets = {}) {
    constexpr std::int64_t kBehind = 5;
    const std::int64_t n = element_count(shape_of_result(shapes));
    const std::vector<T> stored_a = scatter(a, contiguous(shapes.a, offsets.a));
    const std::vector<T> stored_b = scatter(b, contiguous(shapes.b, offsets.b));
    const auto device_a = device_input(stored_a, offsets.a, stream_);
    const auto device_b = device_input(stored_b, offsets.b, stream_);
    const DeviceBuffer<T> device_out(offsets.out + n + kBehind);

    Hygiene hygiene(id(variant));
    hygiene.input("a", stored_a, device_a, stream_);
    hygiene.input("b", stored_b, device_b, stream_);
    LaunchRecorder recorder;
    const Variant ran =
        broadcast::run<T>(op, device_a.data() + offsets.a, shapes.a, device_b.data() + offsets.b,
                          shapes.b, device_out.data() + offsets.out, variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    EXPECT_EQ(recorder.launches().size(), n > 0 ? 1u : 0u);
    const std::string kernel = "broadcast::" + std::string(broadcast::name(variant));
    for (const LaunchRecord& launch : recorder.launches())
      EXPECT_NE(launch.kernel_name.find(kernel), std::string::npos) << launch.kernel_name;
    return hygiene.output(device_out, contiguous({n}, offsets.out), stream_);
  }

  // Every variant on these values, against the oracle.
  void check(Op op, const std::string& fill, const Shapes& shapes, const std::vector<T>& a,
             const std::vector<T>& b, Offsets offsets = {}) {
    const std::vector<double> expected = oracle(op, shapes, a, b);
    const Expectation expectation = exactly(kDtype, shape_of_result(shapes), expected);
    EXPECT_TRUE(not_vacuous(expectation, degenerate_of(expected.size()))) << fill;
    for (const Variant variant : kVariants) {
      const std::vector<T> result = run(op, variant, shapes, a, b, offsets);
      EXPECT_TRUE(
          verdict(compare(observe(result), expectation), context(op, variant, fill, shapes)));
    }
  }

  void check_normals(Op op, const Shapes& shapes, Offsets offsets = {}) {
    check(op, "normal", shapes, normals(shapes.a, Tensor::a), normals(shapes.b, Tensor::b),
          offsets);
  }

  static std::vector<double> oracle(Op op, const Shapes& shapes, const std::vector<T>& a,
                                    const std::vector<T>& b) {
    const Extents shape = shape_of_result(shapes);
    return elementwise_oracle(oracle_op(op), kDtype,
                              repeated_oracle(observe(a).values, shapes.a, shape),
                              repeated_oracle(observe(b).values, shapes.b, shape));
  }

  static std::vector<T> normals(const Extents& shape, Tensor tensor) {
    return elements<T>(normal(kDtype, element_count(shape), tensor).values);
  }

  Stream stream_;
};

} // namespace kg::test
