// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// bias_gelu against the oracle and every vendor; tolerances and their derivation in
// tests/oracle/oracle_bias_gelu.h.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/device.h"
#include "runtime/launch.h"
#include "tests/bias_gelu_fixture.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"

namespace kg::test {
namespace {

TYPED_TEST_SUITE(BiasGelu, FloatTypes, DtypeNames);

// Rows that end within packs; a few tiles in f32.
constexpr std::int64_t kRows = 83;
constexpr std::int64_t kCols = 101;

// Sums of integers that fill the significand, so large that gelu is the argument itself or a zero.
TYPED_TEST(BiasGelu, ExactFill) {
  using T = TypeParam;
  constexpr std::int64_t kMost = 4; // of the bias
  const std::int64_t largest = (std::int64_t{1} << float_format(this->kDtype).precision) - 1;
  const Random random(seed(), 23);
  const std::vector<double> bias = integers(this->kDtype, kCols, kMost, Tensor::b).values;
  std::vector<double> x, expected;
  for (std::int64_t i = 0; i < kRows * kCols; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    const auto size = static_cast<double>(random.integer(index, 128 + kMost, largest - kMost));
    x.push_back(i % 3 == 0 ? -size : size);
    expected.push_back(i % 3 == 0 ? -0.0 : size + bias[static_cast<std::size_t>(i % kCols)]);
  }
  const Inputs<T> in{elements<T>(x), elements<T>(bias)};
  const Expectation expectation = exactly(this->kDtype, {kRows, kCols}, expected);
  EXPECT_TRUE(not_vacuous(expectation));
  for (const Form form : kForms)
    for (const Variant variant : kVariants)
      EXPECT_TRUE(verdict(compare(observe(this->run(form, variant, in)), expectation),
                          this->context(form, variant, "limits", in)));
}

TYPED_TEST(BiasGelu, RandomAgainstOracle) {
  for (const Form form : kForms) this->check(form, "normal", this->normals(kRows, kCols));
}

TYPED_TEST(BiasGelu, RandomAgainstVendors) {
  using T = TypeParam;
  const Inputs<T> in = this->normals(kRows, kCols);
  const auto device_x = DeviceBuffer<T>::from_host(in.x, this->stream_);
  const auto device_bias = DeviceBuffer<T>::from_host(in.bias, this->stream_);
  for (const Form form : kForms) {
    const auto right = this->reference(form, in);
    const std::vector<double> vendor_tolerance =
        library_bias_gelu_tolerances(oracle_op(form), this->kDtype, right.sums, right.value);
    const auto vendors = vendor::bias_gelu_variants(vendor_form(form), this->kDtype);
    if (vendors.empty()) report_no_vendor("bias_gelu", this->kDtype, name(form));
    for (const Variant variant : kVariants) {
      const Observed ours = observe(this->run(form, variant, in)); // before the vendor
      EXPECT_TRUE(
          verdict(compare(ours, right.expectation()), this->context(form, variant, "normal", in)));
      for (const std::string_view vendor : vendors) {
        const DeviceBuffer<T> y(in.x.size());
        vendor::bias_gelu(vendor, vendor_form(form), this->kDtype, device_x.data(),
                          device_bias.data(), y.data(), kRows, kCols, this->stream_);
        const Observed theirs = observe(y.to_host(this->stream_));
        EXPECT_TRUE(
            verdict(compare_with_vendor(ours, theirs, right.expectation(), vendor_tolerance),
                    this->context(form, variant, "normal beside " + std::string(vendor), in)));
      }
    }
  }
}

// Zeros, infinities, NaNs, the ends of the subnormal and normal ranges: each as an element beside
// each as a bias.
TYPED_TEST(BiasGelu, SpecialValues) {
  using T = TypeParam;
  const std::size_t count = special_values(this->kDtype).size();
  const BitPairs pairs = special_pairs(this->kDtype);
  const auto bias = elements_of_bits<T>(pairs.b);
  for (const Form form : kForms)
    this->check(form, "special",
                {elements_of_bits<T>(pairs.a),
                 std::vector<T>(bias.begin(), bias.begin() + static_cast<std::ptrdiff_t>(count))});
}

// Every pattern of a 16-bit type, and as many of f32 spread over all kinds, beside zeros and
// normals.
TYPED_TEST(BiasGelu, AllPatterns) {
  using T = TypeParam;
  constexpr std::int64_t kBiases = 64;
  const auto bits = sizeof(T) == 2 ? all_bits(this->kDtype) : unique_bits(this->kDtype, 1 << 16);
  std::vector<double> bias = normal(this->kDtype, kBiases, Tensor::b).values;
  for (std::size_t i = 0; i < bias.size(); i += 2) bias[i] = 0;
  for (const Form form : kForms)
    this->check(form, "all_bits", {elements_of_bits<T>(bits), elements<T>(bias)});
}

// Around a pack, a warp, a block and a tile, in both extents.
TYPED_TEST(BiasGelu, Sizes) {
  const std::int64_t tile = this->kTile;
  for (const auto& [rows, cols] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, 5},    {5, 0},        {1, 1},    {1, 3},        {3, 1},       {2, 2},
           {5, 3},    {300, 3},      {7, 4},    {7, 8},        {9, 7},       {9, 9},
           {3, 15},   {17, 16},      {3, 33},   {5, 255},      {1, 257},     {257, 1},
           {3, 1024}, {1, tile - 1}, {1, tile}, {2, tile + 1}, {tile + 1, 2}})
    this->check(Form::tanh, "normal", this->normals(rows, cols));
}

TYPED_TEST(BiasGelu, BeyondOneGrid) {
  constexpr std::int64_t kWide = 1003;
  const std::int64_t most = std::int64_t{device_properties().sm_count} * 4 * this->kTile;
  this->check(Form::tanh, "normal", this->normals(most / kWide + 2, kWide));
}

// Indices beyond 32 bits, in place.
TYPED_TEST(BiasGelu, MoreThan2To31Elements) {
  using T = TypeParam;
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  constexpr std::int64_t kWide = (1 << 16) + 1;
  constexpr std::int64_t kN = ((1 << 15) + 1) * kWide;
  const std::string reason = too_huge_reason(kN * sizeof(T));
  if (!reason.empty()) GTEST_SKIP() << reason;
  constexpr unsigned char kByte = 0xD8; // below -100 in each type: gelu is -0
  const auto value = [](double x) { return elements<T>(std::vector<double>{x})[0]; };
  std::vector<double> bias(kWide, 0);
  Marks<T> before, after;
  double next = 128;
  for (const std::int64_t index : {std::int64_t{0}, kHalf - 1, kHalf, kHalf + 1, kN - 1}) {
    bias[static_cast<std::size_t>(index % kWide)] = next - 126;
    before[index] = value(next);
    after[index] = value(2 * next - 126);
    ++next;
  }
  const auto device_bias = DeviceBuffer<T>::from_host(elements<T>(bias), this->stream_);
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> x(kN);
    fill_bytes(x.data(), kByte, x.bytes(), this->stream_);
    put(before, x, this->stream_);
    bias_gelu::run<T>(Form::erf, x.data(), device_bias.data(), x.data(), kN / kWide, kWide, variant,
                      this->stream_);
    EXPECT_TRUE(holds(x, value(-0.0), after, this->stream_)) << bias_gelu::name(variant);
    EXPECT_NO_THROW(x.check_guards());
  }
}

TYPED_TEST(BiasGelu, Misaligned) {
  for (const auto& [rows, cols] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1}, {1, 5}, {5, 1}, {6, 7}, {3, this->kTile / 2 + 8}}) {
    const auto in = this->normals(rows, cols);
    for (const std::int64_t k : {1, 3, 4, 8}) {
      this->check(Form::tanh, "normal", in, {k, k, k});
      this->check(Form::tanh, "normal", in, {0, k, 0});
      this->check(Form::tanh, "normal", in, {k, 0, k});
      this->check(Form::tanh, "normal", in, {k, k, k + 1});
    }
    this->check(Form::tanh, "normal", in, {0, 0, 1});
  }
}

TYPED_TEST(BiasGelu, InPlace) {
  using T = TypeParam;
  const Inputs<T> in = this->normals(kRows, kCols);
  constexpr std::int64_t kN = kRows * kCols;
  const auto bias = DeviceBuffer<T>::from_host(in.bias, this->stream_);
  const auto right = this->reference(Form::erf, in);
  for (const Variant variant : kVariants)
    for (const std::int64_t shift : {0, 1}) {
      const auto device =
          DeviceBuffer<T>::from_host(scatter(in.x, contiguous({kN}, shift)), this->stream_);
      T* const both = device.data() + shift;
      bias_gelu::run<T>(Form::erf, both, bias.data(), both, kRows, kCols, variant, this->stream_);
      const auto y = gather(device.to_host(this->stream_), contiguous({kN}, shift));
      EXPECT_TRUE(verdict(compare(observe(y), right.expectation()),
                          this->context(Form::erf, variant, "normal, y = x", in)));
    }
}

TYPED_TEST(BiasGelu, SameBitsEveryTime) {
  const auto in = this->normals(kRows, kCols);
  for (const Form form : kForms)
    for (const Variant variant : kVariants) {
      static_assert(bias_gelu::deterministic(Variant::automatic));
      EXPECT_TRUE(same_bits_every_time(this->id(variant), [&] {
        return this->run(form, variant, in);
      })) << bias_gelu::name(form);
    }
}

// A row and the bias exchanged, and rows turned upside down.
TYPED_TEST(BiasGelu, Relations) {
  using T = TypeParam;
  const auto in = this->normals(kRows, kCols);
  const Inputs<T> turned{in.bias, {in.x.begin(), in.x.begin() + kCols}};
  const Inputs<T> straight{turned.bias, turned.x};
  std::vector<T> backwards;
  for (std::int64_t row = kRows - 1; row >= 0; --row)
    backwards.insert(backwards.end(), in.x.begin() + row * kCols, in.x.begin() + (row + 1) * kCols);
  for (const Form form : kForms)
    for (const Variant variant : kVariants) {
      EXPECT_TRUE(same_bits("a row and the bias exchanged", this->run(form, variant, turned),
                            this->run(form, variant, straight)));
      const std::vector<T> y = this->run(form, variant, in);
      const std::vector<T> reversed = this->run(form, variant, {backwards, in.bias});
      EXPECT_TRUE(same_bits("the first row as the last one",
                            std::vector<T>(y.begin(), y.begin() + kCols),
                            std::vector<T>(reversed.end() - kCols, reversed.end())));
    }
}

// On a stream whose earlier work still writes x.
TYPED_TEST(BiasGelu, WaitsForItsStream) {
  using T = TypeParam;
  const auto in = this->normals(kRows, kCols);
  const auto bias = DeviceBuffer<T>::from_host(in.bias, this->stream_);
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> y(in.x.size());
    const LateInput<T> late(in.x, this->stream_);
    bias_gelu::run<T>(Form::erf, late.data(), bias.data(), y.data(), kRows, kCols, variant,
                      this->stream_);
    EXPECT_TRUE(same_bits("behind a slow kernel", y.to_host(this->stream_),
                          this->run(Form::erf, variant, in)));
  }
}

TYPED_TEST(BiasGelu, AutomaticReportsWhatRan) {
  using T = TypeParam;
  const auto x = DeviceBuffer<T>::from_host(std::vector<T>(64), this->stream_);
  const auto bias = DeviceBuffer<T>::from_host(std::vector<T>(8), this->stream_);
  LaunchRecorder recorder;
  const Variant ran = bias_gelu::run<T>(Form::erf, x.data(), bias.data(), x.data(), 8, 8,
                                        Variant::automatic, this->stream_);
  EXPECT_EQ(ran, Variant::vectorized);
  ASSERT_EQ(recorder.launches().size(), 1u);
  EXPECT_NE(recorder.launches()[0].kernel_name.find("vectorized"), std::string::npos);
}

TYPED_TEST(BiasGelu, RefusesWrongArguments) {
  using T = TypeParam;
  const DeviceBuffer<T> memory(32), other(8);
  T* const p = memory.data();
  const T* const bias = other.data();
  LaunchRecorder recorder;
  for (const Variant variant : kVariants) {
    const auto run = [&](const T* x, const T* b, T* y, std::int64_t rows, std::int64_t cols) {
      bias_gelu::run<T>(Form::tanh, x, b, y, rows, cols, variant, this->stream_);
    };
    EXPECT_THROW(run(p, bias, p, -1, 8), Error);
    EXPECT_THROW(run(p, bias, p, 2, -8), Error);
    EXPECT_THROW(run(nullptr, bias, p, 2, 8), Error);
    EXPECT_THROW(run(p, nullptr, p, 2, 8), Error);
    EXPECT_THROW(run(p, bias, nullptr, 2, 8), Error);
    EXPECT_THROW(run(p, bias, p + 8, 2, 8), Error) << "in place in part";
    EXPECT_THROW(run(p, p + 8, p, 2, 8), Error) << "the bias within y";
    EXPECT_NO_THROW(run(nullptr, nullptr, nullptr, 0, 8));
    EXPECT_NO_THROW(run(nullptr, nullptr, nullptr, 2, 0));
  }
  EXPECT_TRUE(recorder.launches().empty());
}

TYPED_TEST(BiasGelu, WorkIsOneReadAndOneWrite) {
  const Work work = bias_gelu::work(this->kDtype, 10, 100);
  EXPECT_EQ(work.bytes, 2100.0 * sizeof(TypeParam));
  EXPECT_EQ(work.flops, 2000.0);
}

} // namespace
} // namespace kg::test
