// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// elementwise against the oracle and every vendor. Each result has one right value, so every
// comparison is exact; only a NaN's payload is free.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/device.h"
#include "runtime/launch.h"
#include "tests/elementwise_fixture.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"
#include "vendor/elementwise/elementwise.h"

namespace kg::test {
namespace {

TYPED_TEST_SUITE(Elementwise, ElementTypes, DtypeNames);

// A multiple of nothing: five tiles of packs and three elements, about.
constexpr std::int64_t kOdd = 20483;

TYPED_TEST(Elementwise, ExactFill) {
  for (const Op op : this->ops()) {
    const FillPair fill = this->exact(op, kOdd);
    this->check(op, fill.name, elements<TypeParam>(fill.a), elements<TypeParam>(fill.b));
  }
}

TYPED_TEST(Elementwise, RandomAgainstOracle) {
  for (const Op op : this->ops())
    this->check(op, "normal", this->normals(kOdd, Tensor::a), this->normals(kOdd, Tensor::b));
}

TYPED_TEST(Elementwise, RandomAgainstVendors) {
  using T = TypeParam;
  const std::vector<T> a = this->normals(kOdd, Tensor::a);
  const std::vector<T> b = this->normals(kOdd, Tensor::b);
  for (const Op op : this->ops()) {
    const std::vector<double> expected = this->oracle(op, a, b);
    const Expectation expectation = exactly(this->kDtype, {kOdd}, expected);
    const auto vendors = vendor::elementwise_variants(vendor_op(op), this->kDtype);
    if (vendors.empty()) report_no_vendor("elementwise", this->kDtype, name(op));
    for (const Variant variant : kVariants) {
      const Observed ours =
          observe(this->run(op, variant, a, b)); // before the vendor writes the same values
      EXPECT_TRUE(
          verdict(compare(ours, expectation), this->context(op, variant, "normal", a.size())));
      for (const std::string_view vendor : vendors) {
        const auto device_a = DeviceBuffer<T>::from_host(a, this->stream_);
        const auto device_b = DeviceBuffer<T>::from_host(b, this->stream_);
        const DeviceBuffer<T> device_out(a.size());
        vendor::elementwise(vendor, vendor_op(op), this->kDtype, device_a.data(), device_b.data(),
                            device_out.data(), kOdd, this->stream_);
        const Observed theirs = observe(device_out.to_host(this->stream_));
        EXPECT_TRUE(
            verdict(compare_with_vendor(ours, theirs, expectation),
                    this->context(op, variant, "normal beside " + std::string(vendor), a.size())));
      }
    }
  }
}

// Zeros, infinities, NaNs, the ends of the ranges, each against each.
TYPED_TEST(Elementwise, SpecialValues) {
  const BitPairs pairs = this->specials();
  for (const Op op : this->ops())
    this->check(op, "special", elements_of_bits<TypeParam>(pairs.a),
                elements_of_bits<TypeParam>(pairs.b));
}

// Every pattern of a 16-bit type, and as many of a wider one spread over all kinds, as either
// operand beside one of another kind.
TYPED_TEST(Elementwise, AllPatterns) {
  using T = TypeParam;
  const auto a = sizeof(T) == 2 ? all_bits(this->kDtype) : unique_bits(this->kDtype, 1 << 16);
  const auto b = permuted_rows(a, permutation(static_cast<std::int64_t>(a.size())));
  for (const Op op : this->ops())
    this->check(op, "all_bits", elements_of_bits<T>(a), elements_of_bits<T>(b));
}

template <typename T>
class ElementwiseFloat : public Elementwise<T> {};
TYPED_TEST_SUITE(ElementwiseFloat, FloatsAndDouble, DtypeNames);

// Results in the subnormal range, which must neither be flushed nor rounded twice.
TYPED_TEST(ElementwiseFloat, SubnormalResults) {
  const FloatFormat format = float_format(this->kDtype);
  const Random random(seed(), 17);
  for (const Op op : this->ops()) {
    std::vector<double> a;
    std::vector<double> b;
    for (std::int64_t i = 0; i < kOdd; ++i) {
      const auto index = static_cast<std::uint64_t>(2 * i);
      // Of the result: from half the smallest subnormal to the smallest normal number.
      const auto exponent = static_cast<int>(
          random.integer(index, format.min_exponent - format.precision, format.min_exponent));
      const int shift = op == Op::mul ? -12 : op == Op::div ? 12 : exponent;
      const int own = op == Op::mul   ? exponent - shift
                      : op == Op::div ? exponent + shift
                                      : exponent;
      a.push_back(round_to(this->kDtype, std::ldexp(1.5 + random.uniform(index) / 2, own)));
      b.push_back(
          round_to(this->kDtype,
                   random.sign(index) * std::ldexp(1.5 + random.uniform(index + 1) / 2, shift)));
    }
    this->check(op, "subnormal", elements<TypeParam>(a), elements<TypeParam>(b));
  }
}

TYPED_TEST(Elementwise, Sizes) {
  // Around a pack, a warp, a block, and a tile (4096 or 8192 bytes of packs per input and 256
  // threads).
  const std::int64_t tile = 512 * this->kPack;
  for (const std::int64_t n : std::vector<std::int64_t>{
           0,           1,    2,    3,        7,    8,        9,    15,
           16,          17,   31,   32,       33,   255,      256,  257,
           1023,        1024, 1025, tile - 1, tile, tile + 1, 4099, 2 * tile + 1,
           3 * tile - 1})
    this->check(this->kOrdered, "normal", this->normals(n, Tensor::a), this->normals(n, Tensor::b),
                {}, degenerate_of(n));
}

TYPED_TEST(Elementwise, BeyondOneGrid) {
  const DeviceProperties& device = device_properties();
  const std::int64_t n =
      std::int64_t{device.sm_count} * device.max_threads_per_sm * 2 * this->kPack + kOdd;
  this->check(Op::add, "normal", this->normals(n, Tensor::a), this->normals(n, Tensor::b));
}

// Indices beyond 32 bits, in place: x + x.
TYPED_TEST(Elementwise, MoreThan2To31Elements) {
  using T = TypeParam;
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  constexpr std::int64_t kN = kHalf + 4099;
  const std::string reason = too_huge_reason(kN * sizeof(T));
  if (!reason.empty()) GTEST_SKIP() << reason;
  constexpr unsigned char kByte = 0x3C; // a normal number of each type
  const T everywhere = from_raw_bits<T>(0x3C3C3C3C3C3C3C3Cu & poison_bits(this->kDtype));
  const auto value = [](double x) { return elements<T>(std::vector<double>{x})[0]; };
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> x(kN);
    fill_bytes(x.data(), kByte, x.bytes(), this->stream_);
    Marks<T> before, after;
    double next = 3;
    for (const std::int64_t index : {std::int64_t{0}, kHalf - 1, kHalf, kHalf + 1, kN - 1}) {
      before[index] = value(next);
      after[index] = value(2 * next);
      ++next;
    }
    put(before, x, this->stream_);
    elementwise::run<T>(Op::add, x.data(), x.data(), x.data(), kN, variant, this->stream_);
    EXPECT_TRUE(holds(x, value(2 * to_double(everywhere)), after, this->stream_))
        << elementwise::name(variant);
    EXPECT_NO_THROW(x.check_guards());
  }
}

TYPED_TEST(Elementwise, Misaligned) {
  const std::int64_t tile = 512 * this->kPack;
  for (const std::int64_t n :
       {std::int64_t{1}, std::int64_t{2}, std::int64_t{5}, std::int64_t{41}, tile + 13}) {
    const auto a = this->normals(n, Tensor::a);
    const auto b = this->normals(n, Tensor::b);
    const Degenerate degenerate = degenerate_of(n);
    for (const std::int64_t k : {1, 2, 3, 4, 5, 7, 8, 12}) {
      this->check(Op::add, "normal", a, b, {k, k, k}, degenerate);
      this->check(Op::add, "normal", a, b, {k, k + 1, k}, degenerate);
      this->check(Op::add, "normal", a, b, {k, k, 0}, degenerate);
    }
    this->check(Op::add, "normal", a, b, {1, 1 + this->kPack, 1 + 2 * this->kPack}, degenerate);
    this->check(Op::add, "normal", a, b, {0, 1, 2}, degenerate);
  }
}

// out = a, out = b, and out = a = b.
TYPED_TEST(Elementwise, InPlace) {
  using T = TypeParam;
  const std::vector<T> a = this->normals(kOdd, Tensor::a);
  const std::vector<T> b = this->normals(kOdd, Tensor::b);
  for (const Variant variant : kVariants) {
    for (const std::int64_t shift : {0, 1}) {
      const Expectation nothing = exactly(this->kDtype, {kOdd}, {});
      for (const char* out : {"a", "b", "both"}) {
        const bool both = std::string_view(out) == "both";
        const auto device_a =
            DeviceBuffer<T>::from_host(scatter(a, contiguous({kOdd}, shift)), this->stream_);
        const auto device_b =
            DeviceBuffer<T>::from_host(scatter(b, contiguous({kOdd}, shift)), this->stream_);
        T* const first = device_a.data() + shift;
        T* const second = both ? first : device_b.data() + shift;
        T* const to = out[0] == 'a' || both ? first : second;
        elementwise::run(this->kOrdered, first, second, to, kOdd, variant, this->stream_);
        const auto& changed = to == first ? device_a : device_b;
        const auto result = gather(changed.to_host(this->stream_), contiguous({kOdd}, shift));
        const std::vector<double> expected = this->oracle(this->kOrdered, a, both ? a : b);
        Expectation expectation = nothing;
        expectation.value = expected;
        EXPECT_TRUE(verdict(
            compare(observe(result), expectation),
            this->context(this->kOrdered, variant, std::string("normal, out = ") + out, kOdd)));
        if (!both) {
          EXPECT_TRUE(not_vacuous(expectation));
        }
      }
    }
  }
}

TYPED_TEST(Elementwise, SameBitsEveryTime) {
  using T = TypeParam;
  const std::vector<T> a = this->normals(kOdd, Tensor::a);
  const std::vector<T> b = this->normals(kOdd, Tensor::b);
  for (const Op op : this->ops())
    for (const Variant variant : kVariants) {
      static_assert(elementwise::deterministic(Variant::automatic));
      EXPECT_TRUE(same_bits_every_time(this->id(variant), [&] {
        return this->run(op, variant, a, b);
      })) << elementwise::name(op);
    }
}

// Exchanged, scaled and permuted operands.
TYPED_TEST(Elementwise, Relations) {
  using T = TypeParam;
  constexpr std::int64_t kN = 4999;
  const std::vector<double> a = observe(this->normals(kN, Tensor::a)).values;
  const std::vector<double> b = observe(this->normals(kN, Tensor::b)).values;
  const std::vector<std::int64_t> order = permutation(kN);
  for (const Variant variant : kVariants) {
    const auto of = [&](Op op, const std::vector<double>& x, const std::vector<double>& y) {
      return this->run(op, variant, elements<T>(x), elements<T>(y));
    };
    for (const Op op : this->ops()) {
      const std::vector<T> result = of(op, a, b);
      EXPECT_TRUE(same_bits("P a op P b = P (a op b)",
                            of(op, permuted_rows(a, order), permuted_rows(b, order)),
                            permuted_rows(result, order)))
          << elementwise::name(op);
      if (op == Op::add || op == Op::mul) {
        EXPECT_TRUE(same_bits("a op b = b op a", of(op, b, a), result));
      }
      std::vector<double> negative;
      for (const double value : a) negative.push_back(-value);
      if (!this->kInteger && (op == Op::mul || op == Op::div)) {
        std::vector<double> expected = observe(result).values;
        for (double& value : expected) value = -value;
        EXPECT_TRUE(same_bits("(-a) op b = -(a op b)", of(op, negative, b), elements<T>(expected)));
      }
    }
  }
}

// On a stream whose earlier work still writes a.
TYPED_TEST(Elementwise, WaitsForItsStream) {
  using T = TypeParam;
  constexpr std::int64_t kN = 3001;
  const std::vector<T> a = this->normals(kN, Tensor::a);
  const std::vector<T> b = this->normals(kN, Tensor::b);
  const auto device_b = DeviceBuffer<T>::from_host(b, this->stream_);
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> out(a.size());
    const LateInput<T> late(a, this->stream_);
    elementwise::run<T>(Op::add, late.data(), device_b.data(), out.data(), kN, variant,
                        this->stream_);
    EXPECT_TRUE(same_bits("behind a slow kernel", out.to_host(this->stream_),
                          this->run(Op::add, variant, a, b)));
  }
}

TYPED_TEST(Elementwise, AutomaticReportsWhatRan) {
  const auto data = DeviceBuffer<TypeParam>::from_host(std::vector<TypeParam>(64), this->stream_);
  LaunchRecorder recorder;
  const Variant ran = elementwise::run(Op::add, data.data(), data.data(), data.data(), 64,
                                       Variant::automatic, this->stream_);
  EXPECT_EQ(ran, Variant::vectorized);
  ASSERT_EQ(recorder.launches().size(), 1u);
  EXPECT_NE(recorder.launches()[0].kernel_name.find("vectorized"), std::string::npos);
}

TYPED_TEST(Elementwise, RefusesWrongArguments) {
  using T = TypeParam;
  const DeviceBuffer<T> data(8);
  T* const p = data.data();
  const T* const null = nullptr;
  LaunchRecorder recorder;
  for (const Variant variant : kVariants) {
    EXPECT_THROW(elementwise::run(Op::add, p, p, p, -1, variant, this->stream_), Error);
    EXPECT_THROW(elementwise::run(Op::add, null, p, p, 8, variant, this->stream_), Error);
    EXPECT_THROW(elementwise::run(Op::add, p, null, p, 8, variant, this->stream_), Error);
    EXPECT_THROW(elementwise::run<T>(Op::add, p, p, nullptr, 8, variant, this->stream_), Error);
    EXPECT_NO_THROW(elementwise::run<T>(Op::add, null, null, nullptr, 0, variant, this->stream_));
  }
  if (!elementwise::supports(Op::div, this->kDtype)) {
    EXPECT_THROW(elementwise::run(Op::div, p, p, p, 8, Variant::naive, this->stream_), Error);
  }
  EXPECT_TRUE(recorder.launches().empty());
}

TYPED_TEST(Elementwise, WorkIsTwoReadsAndOneWrite) {
  const Work work = elementwise::work(this->kDtype, 1000);
  EXPECT_EQ(work.bytes, 3000.0 * sizeof(TypeParam));
  EXPECT_EQ(work.flops, 1000.0);
}

} // namespace
} // namespace kg::test
