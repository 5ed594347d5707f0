// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gated_activation against the oracle and every vendor; tolerances and their derivation in
// tests/oracle/oracle_gated_activation.h. reglu has one right value throughout.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/device.h"
#include "runtime/launch.h"
#include "tests/gated_activation_fixture.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/support/huge.h"
#include "tests/support/repeats.h"
#include "vendor/gated_activation/gated_activation.h"

#include "gated_activation/gated_activation.h"

namespace kg::test {
namespace {

using gated_activation::kVariants;
using gated_activation::Variant;

// Elements between the start of each array's storage, which is aligned to 256 bytes, and the array.
struct Offsets {
  std::int64_t x = 0;
  std::int64_t y = 0;
};

template <typename T>
class GatedActivation : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;
  static constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(T));
  // What a block of the vectorized kernel takes at once.
  static constexpr std::int64_t kTile = 256 * kPack * (sizeof(T) == 4 ? 2 : 1);

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("gated_activation", kDtype, kVariants, kRoundedOperation);
  }

  static VariantId id(Variant variant) {
    return {"gated_activation", std::string(name(kDtype)),
            std::string(gated_activation::name(variant))};
  }
  static CaseContext context(Form form, Variant variant, std::string fill, const Rows<T>& in) {
    return {CaseId("gated_activation." + std::string(name(kDtype)) + "." + parameters(form, in)),
            std::string(gated_activation::name(variant)),
            std::move(fill),
            {in.rows(), in.cols},
            {}};
  }

  // Ours, with everything checked but the values.
  std::vector<T> run(Form form, Variant variant, const Rows<T>& in, Offsets offsets = {}) {
    constexpr std::int64_t kBehind = 5;
    const std::int64_t n = in.size();
    const std::vector<T> stored =
        scatter(side_by_side(in.halves, in.cols), contiguous({2 * n}, offsets.x));
    const auto x = device_input(stored, offsets.x, stream_);
    const DeviceBuffer<T> y(offsets.y + n + kBehind);
    Hygiene hygiene(id(variant));
    hygiene.input("x", stored, x, stream_);
    LaunchRecorder recorder;
    const Variant ran = gated_activation::run<T>(form, x.data() + offsets.x, y.data() + offsets.y,
                                                 in.rows(), in.cols, variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    EXPECT_EQ(recorder.launches().size(), n > 0 ? 1u : 0u);
    const std::string kernel = "gated_activation::" + std::string(gated_activation::name(variant));
    for (const LaunchRecord& launch : recorder.launches())
      EXPECT_NE(launch.kernel_name.find(kernel), std::string::npos) << launch.kernel_name;
    return hygiene.output(y, contiguous({n}, offsets.y), stream_);
  }

  struct Reference {
    Form form;
    std::vector<std::int64_t> shape;
    std::vector<double> value, tolerance, library_tolerance, unit;

    Expectation expectation() const {
      if (form == Form::reglu) return exactly(kDtype, shape, value);
      return {kDtype, shape, value, tolerance, unit};
    }
  };

  static Reference reference(Form form, const Rows<T>& in) {
    const UnaryOp op = oracle_op(function_of(form));
    const Halves<double> x = observed(in.halves);
    const std::vector<double> y = gated_oracle(op, x);
    return {form,
            {in.rows(), in.cols},
            stored_exactly(form, kDtype, y),
            gated_tolerances(op, kDtype, x, y),
            library_gated_tolerances(op, kDtype, x, y),
            gated_error_units(op, kDtype, x, y)};
  }

  // Every variant on these values, against the oracle.
  void check(Form form, const std::string& fill, const Rows<T>& in, Offsets offsets = {}) {
    const Reference right = reference(form, in);
    EXPECT_TRUE(not_vacuous(right.expectation(), degenerate_of(in.size()))) << fill;
    for (const Variant variant : kVariants)
      EXPECT_TRUE(verdict(compare(observe(run(form, variant, in, offsets)), right.expectation()),
                          context(form, variant, fill, in)));
  }

  Stream stream_;
};

TYPED_TEST_SUITE(GatedActivation, FloatTypes, DtypeNames);

// Rows that end within packs; a few tiles in f32.
constexpr std::int64_t kRows = 83;
constexpr std::int64_t kCols = 101;

// Gates that are their own activation, or have none, times powers of two.
TYPED_TEST(GatedActivation, ExactFill) {
  const Rows<TypeParam> in = limit_rows<TypeParam>(kRows, kCols);
  const Halves<double> x = observed(in.halves);
  std::vector<double> expected;
  for (std::size_t i = 0; i < x.gate.size(); ++i)
    expected.push_back(x.gate[i] > 0 ? x.gate[i] * x.value[i] : 0);
  const Expectation expectation{this->kDtype, {kRows, kCols}, expected, {}}; // zeros of any sign
  EXPECT_TRUE(not_vacuous(expectation));
  for (const Form form : kForms)
    for (const Variant variant : kVariants)
      EXPECT_TRUE(verdict(compare(observe(this->run(form, variant, in)), expectation),
                          this->context(form, variant, "limits", in)));
}

TYPED_TEST(GatedActivation, RandomAgainstOracle) {
  for (const Form form : kForms) this->check(form, "normal", normal_rows<TypeParam>(kRows, kCols));
}

TYPED_TEST(GatedActivation, RandomAgainstVendors) {
  using T = TypeParam;
  const auto in = normal_rows<T>(kRows, kCols);
  const auto x = DeviceBuffer<T>::from_host(side_by_side(in.halves, kCols), this->stream_);
  for (const Form form : kForms) {
    const auto right = this->reference(form, in);
    Expectation expectation = right.expectation();
    expectation.zero = SignedZero::ignored; // libraries' relu gives zeros of either sign
    const auto theirs = vendor_function(function_of(form));
    const auto vendors = vendor::gated_activation_variants(theirs, this->kDtype);
    if (vendors.empty()) report_no_vendor("gated_activation", this->kDtype, name(form));
    for (const Variant variant : kVariants) {
      const Observed ours = observe(this->run(form, variant, in)); // before the vendor
      EXPECT_TRUE(verdict(compare(ours, expectation), this->context(form, variant, "normal", in)));
      for (const std::string_view vendor : vendors) {
        const DeviceBuffer<T> y(in.halves.gate.size());
        vendor::gated_activation(vendor, theirs, this->kDtype, x.data(), y.data(), kRows, kCols,
                                 this->stream_);
        const Observed result = observe(y.to_host(this->stream_));
        EXPECT_TRUE(
            verdict(compare_with_vendor(ours, result, expectation, right.library_tolerance),
                    this->context(form, variant, "normal beside " + std::string(vendor), in)));
      }
    }
  }
}

// Zeros, infinities, NaNs, the ends of the subnormal and normal ranges: each as a gate of each.
TYPED_TEST(GatedActivation, SpecialValues) {
  for (const Form form : kForms) this->check(form, "special", special_rows<TypeParam>());
}

// Every pattern of a 16-bit type, and as many of f32 spread over all kinds, as a gate.
TYPED_TEST(GatedActivation, AllPatterns) {
  for (const Form form : kForms) this->check(form, "all_bits", pattern_rows<TypeParam>());
}

// Around a pack, a warp, a block and a tile, in both extents.
TYPED_TEST(GatedActivation, Sizes) {
  const std::int64_t tile = this->kTile;
  for (const auto& [rows, cols] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, 5},    {5, 0},        {1, 1},    {1, 3},        {3, 1},       {2, 2},
           {5, 3},    {300, 3},      {7, 4},    {7, 8},        {9, 7},       {9, 9},
           {3, 15},   {17, 16},      {3, 33},   {5, 255},      {1, 257},     {257, 1},
           {3, 1024}, {1, tile - 1}, {1, tile}, {2, tile + 1}, {tile + 1, 2}})
    this->check(Form::swiglu, "normal", normal_rows<TypeParam>(rows, cols));
}

TYPED_TEST(GatedActivation, BeyondOneGrid) {
  constexpr std::int64_t kWide = 1003;
  const std::int64_t most = std::int64_t{device_properties().sm_count} * 4 * this->kTile;
  this->check(Form::reglu, "normal", normal_rows<TypeParam>(most / kWide + 2, kWide));
}

// Indices of y beyond 32 bits.
TYPED_TEST(GatedActivation, MoreThan2To31Elements) {
  using T = TypeParam;
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  constexpr std::int64_t kWide = (1 << 16) + 1;
  constexpr std::int64_t kN = ((1 << 15) + 1) * kWide;
  const std::string reason = too_huge_reason(3 * kN * sizeof(T));
  if (!reason.empty()) GTEST_SKIP() << reason;
  const auto value = [](double number) { return elements<T>(std::vector<double>{number})[0]; };
  const DeviceBuffer<T> x(2 * kN);
  fill_bytes(x.data(), 0, x.bytes(), this->stream_);
  Marks<T> before, after;
  double next = 128;
  for (const std::int64_t index : {std::int64_t{0}, kHalf - 1, kHalf, kHalf + 1, kN - 1}) {
    const std::int64_t gate = index + index / kWide * kWide;
    before[gate] = value(next);
    before[gate + kWide] = value(2);
    after[index] = value(2 * next);
    ++next;
  }
  put(before, x, this->stream_);
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> y(kN);
    gated_activation::run<T>(Form::swiglu, x.data(), y.data(), kN / kWide, kWide, variant,
                             this->stream_);
    EXPECT_TRUE(holds(y, value(0), after, this->stream_)) << gated_activation::name(variant);
    EXPECT_NO_THROW(y.check_guards());
  }
}

TYPED_TEST(GatedActivation, Misaligned) {
  for (const auto& [rows, cols] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1}, {5, 1}, {6, 7}, {3, this->kTile / 2 + 8}}) {
    const auto in = normal_rows<TypeParam>(rows, cols);
    for (const std::int64_t k : {1, 3, 4, 8}) {
      this->check(Form::swiglu, "normal", in, {k, k});
      this->check(Form::swiglu, "normal", in, {k, 0});
      this->check(Form::swiglu, "normal", in, {0, k});
    }
  }
}

TYPED_TEST(GatedActivation, SameBitsEveryTime) {
  const auto in = normal_rows<TypeParam>(kRows, kCols);
  for (const Form form : kForms)
    for (const Variant variant : kVariants) {
      static_assert(gated_activation::deterministic(Variant::automatic));
      EXPECT_TRUE(same_bits_every_time(this->id(variant), [&] {
        return this->run(form, variant, in);
      })) << gated_activation::name(form);
    }
}

// On a stream whose earlier work still writes x.
TYPED_TEST(GatedActivation, WaitsForItsStream) {
  using T = TypeParam;
  const auto in = normal_rows<T>(kRows, kCols);
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> y(in.halves.gate.size());
    const LateInput<T> late(side_by_side(in.halves, kCols), this->stream_);
    gated_activation::run<T>(Form::geglu, late.data(), y.data(), kRows, kCols, variant,
                             this->stream_);
    EXPECT_TRUE(same_bits("behind a slow kernel", y.to_host(this->stream_),
                          this->run(Form::geglu, variant, in)));
  }
}

TYPED_TEST(GatedActivation, AutomaticReportsWhatRan) {
  using T = TypeParam;
  const auto x = DeviceBuffer<T>::from_host(std::vector<T>(128), this->stream_);
  const DeviceBuffer<T> y(64);
  LaunchRecorder recorder;
  const Variant ran = gated_activation::run<T>(Form::swiglu, x.data(), y.data(), 8, 8,
                                               Variant::automatic, this->stream_);
  EXPECT_EQ(ran, Variant::vectorized);
  ASSERT_EQ(recorder.launches().size(), 1u);
  EXPECT_NE(recorder.launches()[0].kernel_name.find("vectorized"), std::string::npos);
}

TYPED_TEST(GatedActivation, RefusesWrongArguments) {
  using T = TypeParam;
  const DeviceBuffer<T> memory(48), other(16);
  T* const p = memory.data();
  LaunchRecorder recorder;
  for (const Variant variant : kVariants) {
    const auto run = [&](const T* x, T* y, std::int64_t rows, std::int64_t cols) {
      gated_activation::run<T>(Form::reglu, x, y, rows, cols, variant, this->stream_);
    };
    EXPECT_THROW(run(p, other.data(), -1, 8), Error);
    EXPECT_THROW(run(p, other.data(), 2, -8), Error);
    EXPECT_THROW(run(nullptr, p, 2, 8), Error);
    EXPECT_THROW(run(p, nullptr, 2, 8), Error);
    EXPECT_THROW(run(p, p, 2, 8), Error) << "in place";
    EXPECT_THROW(run(p, p + 31, 2, 8), Error) << "the last value within y";
    EXPECT_NO_THROW(run(nullptr, nullptr, 0, 8));
    EXPECT_NO_THROW(run(nullptr, nullptr, 2, 0));
  }
  EXPECT_TRUE(recorder.launches().empty());
}

TYPED_TEST(GatedActivation, WorkIsTwoReadsAndOneWrite) {
  const Work work = gated_activation::work(this->kDtype, 10, 100);
  EXPECT_EQ(work.bytes, 3000.0 * sizeof(TypeParam));
  EXPECT_EQ(work.flops, 2000.0);
}

} // namespace
} // namespace kg::test
