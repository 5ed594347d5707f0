// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// elementwise_backward against the oracle; no vendor has it. Its roundings are declared, so each
// result has one right value and comparisons are exact; only a NaN's payload is free. What the
// declared roundings are worth is compared with the gradient in fp64.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/device.h"
#include "runtime/launch.h"
#include "tests/elementwise_backward_fixture.h"
#include "tests/oracle/tolerance.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"

namespace kg::test {
namespace {

TYPED_TEST_SUITE(ElementwiseBackward, FloatTypes, DtypeNames);

// A multiple of nothing: a few tiles of packs and three elements, about.
constexpr std::int64_t kOdd = 8195;

// Products and quotients of integers and powers of two, exact and as wide as the significand.
TYPED_TEST(ElementwiseBackward, ExactFill) {
  using T = TypeParam;
  const FillPair factors = exact_elementwise(this->kDtype, BinaryOp::mul, kOdd);
  const auto a = elements<T>(factors.a);
  std::vector<double> powers;
  for (std::int64_t i = 0; i < kOdd; ++i)
    powers.push_back(std::ldexp(i % 3 == 0 ? -1 : 1, static_cast<int>(i % 5) - 2));
  this->check("factors of the significand", {elements<T>(factors.b), a, elements<T>(powers)});
  this->check("factors exchanged", {a, elements<T>(factors.b), elements<T>(powers)});
}

TYPED_TEST(ElementwiseBackward, RandomAgainstOracle) { this->check("normal", this->normals(kOdd)); }

// The gradients of the formulas, in fp64 and not rounded.
TYPED_TEST(ElementwiseBackward, RandomAgainstFp64) {
  const auto in = this->normals(kOdd);
  const std::vector<double> dy = observe(in.dy).values;
  const std::vector<double> a = observe(in.a).values;
  const std::vector<double> b = observe(in.b).values;
  std::vector<double> expected, tolerance;
  for (std::size_t i = 0; i < dy.size(); ++i) {
    expected.push_back(-dy[i] * a[i] / (b[i] * b[i]));
    tolerance.push_back(quotient_gradient_tolerance(this->kDtype, expected[i]));
  }
  const Expectation expectation{this->kDtype, {kOdd}, expected, tolerance};
  EXPECT_TRUE(not_vacuous(expectation));
  for (const Variant variant : kVariants)
    EXPECT_TRUE(verdict(compare(observe(this->run(Op::div, variant, in).db), expectation),
                        this->context(Op::div, variant, "normal, fp64", kOdd)));
  report_no_vendor("elementwise_backward", this->kDtype);
}

// Zeros, infinities, NaNs, the ends of the subnormal and normal ranges: each against each, beside
// one more.
TYPED_TEST(ElementwiseBackward, SpecialValues) {
  using T = TypeParam;
  const BitPairs pairs = special_pairs(this->kDtype);
  const auto x = elements_of_bits<T>(pairs.a);
  const auto y = elements_of_bits<T>(pairs.b);
  const auto z = permuted_rows(x, permutation(static_cast<std::int64_t>(x.size())));
  this->check("special", {x, z, y});
  this->check("special", {z, x, y});
}

// Every pattern of a 16-bit type, and as many of f32 spread over all kinds, beside two others.
TYPED_TEST(ElementwiseBackward, AllPatterns) {
  using T = TypeParam;
  const auto bits = sizeof(T) == 2 ? all_bits(this->kDtype) : unique_bits(this->kDtype, 1 << 16);
  const auto order = permutation(static_cast<std::int64_t>(bits.size()));
  const auto once = permuted_rows(bits, order);
  this->check("all_bits", {elements_of_bits<T>(bits), elements_of_bits<T>(once),
                           elements_of_bits<T>(permuted_rows(once, order))});
}

TYPED_TEST(ElementwiseBackward, Sizes) {
  // Around a pack, a block, and a tile.
  const std::int64_t tile = 256 * this->kPack;
  for (const std::int64_t n : std::vector<std::int64_t>{0, 1, 3, 7, 8, 9, 31, 33, 255, 257,
                                                        tile - 1, tile, tile + 1, 2 * tile + 1})
    this->check("normal", this->normals(n), {}, degenerate_of(n));
}

TYPED_TEST(ElementwiseBackward, BeyondOneGrid) {
  const DeviceProperties& device = device_properties();
  const std::int64_t n =
      std::int64_t{device.sm_count} * device.max_threads_per_sm * 2 * this->kPack + kOdd;
  const auto in = this->normals(n);
  const BinaryGradients expected = this->oracle(Op::mul, in);
  for (const Variant variant : kVariants)
    this->compare_both(Op::mul, variant, "normal", this->run(Op::mul, variant, in), expected);
}

// Indices beyond 32 bits: dy = a = b, in place for da, so that both results are squares.
TYPED_TEST(ElementwiseBackward, MoreThan2To31Elements) {
  using T = TypeParam;
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  constexpr std::int64_t kN = kHalf + 4099;
  const std::string reason = too_huge_reason(2 * kN * sizeof(T));
  if (!reason.empty()) GTEST_SKIP() << reason;
  const auto value = [](double x) { return elements<T>(std::vector<double>{x})[0]; };
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> x(kN), db(kN);
    fill_bytes(x.data(), 0, x.bytes(), this->stream_);
    Marks<T> before, after;
    double next = 3;
    for (const std::int64_t index : {std::int64_t{0}, kHalf - 1, kHalf, kHalf + 1, kN - 1}) {
      before[index] = value(next);
      after[index] = value(next * next);
      ++next;
    }
    put(before, x, this->stream_);
    elementwise_backward::run<T>(Op::mul, x.data(), x.data(), x.data(), x.data(), db.data(), kN,
                                 variant, this->stream_);
    EXPECT_TRUE(holds(x, value(0), after, this->stream_)) << elementwise_backward::name(variant);
    EXPECT_TRUE(holds(db, value(0), after, this->stream_)) << elementwise_backward::name(variant);
    EXPECT_NO_THROW(x.check_guards());
    EXPECT_NO_THROW(db.check_guards());
  }
}

TYPED_TEST(ElementwiseBackward, Misaligned) {
  const std::int64_t tile = 256 * this->kPack;
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{5}, std::int64_t{41}, tile + 13}) {
    const auto in = this->normals(n);
    const Degenerate degenerate = degenerate_of(n);
    for (const std::int64_t k : {1, 3, 4, 8}) {
      this->check("normal", in, {k, k, k, k, k}, degenerate);
      this->check("normal", in, {k, k, k + 1, k, k}, degenerate);
      this->check("normal", in, {k, k, k, k, 0}, degenerate);
    }
    this->check("normal", in, {0, 1, 2, 3, 4}, degenerate);
  }
}

// Each gradient in place of each input.
TYPED_TEST(ElementwiseBackward, InPlace) {
  using T = TypeParam;
  const auto in = this->normals(kOdd);
  const BinaryGradients expected = this->oracle(Op::div, in);
  for (const Variant variant : kVariants)
    for (int for_da = 0; for_da < 3; ++for_da)
      for (int for_db = 0; for_db < 3; ++for_db) {
        if (for_da == for_db) continue;
        const DeviceBuffer<T> arrays[] = {DeviceBuffer<T>::from_host(in.dy, this->stream_),
                                          DeviceBuffer<T>::from_host(in.a, this->stream_),
                                          DeviceBuffer<T>::from_host(in.b, this->stream_)};
        elementwise_backward::run<T>(Op::div, arrays[0].data(), arrays[1].data(), arrays[2].data(),
                                     arrays[for_da].data(), arrays[for_db].data(), kOdd, variant,
                                     this->stream_);
        const Results<T> results{arrays[for_da].to_host(this->stream_),
                                 arrays[for_db].to_host(this->stream_)};
        this->compare_both(Op::div, variant,
                           "normal, in place of inputs " + std::to_string(for_da) + " and " +
                               std::to_string(for_db),
                           results, expected);
      }
}

TYPED_TEST(ElementwiseBackward, SameBitsEveryTime) {
  using T = TypeParam;
  const auto in = this->normals(kOdd);
  for (const Op op : kOps)
    for (const Variant variant : kVariants) {
      static_assert(elementwise_backward::deterministic(Variant::automatic));
      EXPECT_TRUE(same_bits_every_time(this->id(variant), [&] {
        const Results<T> result = this->run(op, variant, in);
        std::vector<T> both = result.da;
        both.insert(both.end(), result.db.begin(), result.db.end());
        return both;
      })) << elementwise_backward::name(op);
    }
}

// Operands of a product exchanged, and arguments permuted.
TYPED_TEST(ElementwiseBackward, Relations) {
  using T = TypeParam;
  constexpr std::int64_t kN = 4999;
  const auto in = this->normals(kN);
  const std::vector<std::int64_t> order = permutation(kN);
  for (const Variant variant : kVariants) {
    const Results<T> product = this->run(Op::mul, variant, in);
    const Results<T> exchanged = this->run(Op::mul, variant, {in.dy, in.b, in.a});
    EXPECT_TRUE(same_bits("da of (a, b) = db of (b, a)", product.da, exchanged.db));
    EXPECT_TRUE(same_bits("db of (a, b) = da of (b, a)", product.db, exchanged.da));
    const Results<T> quotient = this->run(Op::div, variant, in);
    const Results<T> permuted = this->run(
        Op::div, variant,
        {permuted_rows(in.dy, order), permuted_rows(in.a, order), permuted_rows(in.b, order)});
    EXPECT_TRUE(same_bits("da permuted", permuted.da, permuted_rows(quotient.da, order)));
    EXPECT_TRUE(same_bits("db permuted", permuted.db, permuted_rows(quotient.db, order)));
  }
}

// On a stream whose earlier work still writes dy.
TYPED_TEST(ElementwiseBackward, WaitsForItsStream) {
  using T = TypeParam;
  constexpr std::int64_t kN = 3001;
  const auto in = this->normals(kN);
  const auto a = DeviceBuffer<T>::from_host(in.a, this->stream_);
  const auto b = DeviceBuffer<T>::from_host(in.b, this->stream_);
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> da(kN), db(kN);
    const LateInput<T> late(in.dy, this->stream_);
    elementwise_backward::run<T>(Op::mul, late.data(), a.data(), b.data(), da.data(), db.data(), kN,
                                 variant, this->stream_);
    const Results<T> expected = this->run(Op::mul, variant, in);
    EXPECT_TRUE(same_bits("behind a slow kernel", da.to_host(this->stream_), expected.da));
    EXPECT_TRUE(same_bits("behind a slow kernel", db.to_host(this->stream_), expected.db));
  }
}

TYPED_TEST(ElementwiseBackward, AutomaticReportsWhatRan) {
  using T = TypeParam;
  const auto x = DeviceBuffer<T>::from_host(std::vector<T>(64), this->stream_);
  const DeviceBuffer<T> db(64);
  LaunchRecorder recorder;
  const Variant ran =
      elementwise_backward::run<T>(Op::mul, x.data(), x.data(), x.data(), x.data(), db.data(), 64,
                                   Variant::automatic, this->stream_);
  EXPECT_EQ(ran, Variant::vectorized);
  ASSERT_EQ(recorder.launches().size(), 1u);
  EXPECT_NE(recorder.launches()[0].kernel_name.find("vectorized"), std::string::npos);
}

TYPED_TEST(ElementwiseBackward, RefusesWrongArguments) {
  using T = TypeParam;
  const DeviceBuffer<T> memory(16), other(16);
  T* const p = memory.data();
  T* const q = other.data();
  LaunchRecorder recorder;
  for (const Variant variant : kVariants) {
    const auto run = [&](const T* dy, const T* a, const T* b, T* da, T* db, std::int64_t n) {
      elementwise_backward::run<T>(Op::div, dy, a, b, da, db, n, variant, this->stream_);
    };
    EXPECT_THROW(run(p, p, p, p, q, -1), Error);
    EXPECT_THROW(run(nullptr, p, p, p, q, 8), Error);
    EXPECT_THROW(run(p, nullptr, p, p, q, 8), Error);
    EXPECT_THROW(run(p, p, nullptr, p, q, 8), Error);
    EXPECT_THROW(run(p, p, p, nullptr, q, 8), Error);
    EXPECT_THROW(run(p, p, p, p, nullptr, 8), Error);
    EXPECT_THROW(run(q, q, q, p, p, 8), Error) << "both gradients in one place";
    EXPECT_THROW(run(q, q, q, p, p + 4, 8), Error) << "gradients that overlap";
    EXPECT_THROW(run(q, q, p, p + 1, p + 8, 4), Error) << "in place in part";
    EXPECT_NO_THROW(run(nullptr, nullptr, nullptr, nullptr, nullptr, 0));
  }
  EXPECT_TRUE(recorder.launches().empty());
}

TYPED_TEST(ElementwiseBackward, WorkIsThreeReadsAndTwoWrites) {
  const Work work = elementwise_backward::work(Op::div, this->kDtype, 1000);
  EXPECT_EQ(work.bytes, 5000.0 * sizeof(TypeParam));
  EXPECT_EQ(work.flops, 3000.0);
  EXPECT_EQ(elementwise_backward::work(Op::mul, this->kDtype, 1000).flops, 2000.0);
}

} // namespace
} // namespace kg::test
