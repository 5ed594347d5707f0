// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gated_activation_backward against the oracle and every vendor; tolerances and their derivation in
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
#include "vendor/gated_activation_backward/gated_activation_backward.h"

#include "gated_activation_backward/gated_activation_backward.h"

namespace kg::test {
namespace {

using gated_activation_backward::kVariants;
using gated_activation_backward::Variant;

// Elements between the start of each array's storage, which is aligned to 256 bytes, and the array.
struct Offsets {
  std::int64_t x = 0;
  std::int64_t dy = 0;
  std::int64_t dx = 0;
};

template <typename T>
class GatedActivationBackward : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;
  static constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(T));
  // What a block of the vectorized kernel takes at once.
  static constexpr std::int64_t kTile = 256 * kPack;

  struct Input {
    Rows<T> rows;
    std::vector<T> dy;
  };

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("gated_activation_backward", kDtype, kVariants, kRoundedOperation);
  }

  static VariantId id(Variant variant) {
    return {"gated_activation_backward", std::string(name(kDtype)),
            std::string(gated_activation_backward::name(variant))};
  }
  static CaseContext context(Form form, Variant variant, std::string fill, const Input& in) {
    return {CaseId("gated_activation_backward." + std::string(name(kDtype)) + "." +
                   parameters(form, in.rows)),
            std::string(gated_activation_backward::name(variant)),
            std::move(fill),
            {in.rows.rows(), in.rows.cols},
            {}};
  }

  // The kernel that must run: packs where they fit all arrays and rows.
  static std::string kernel_of(Variant variant, std::int64_t cols, Offsets at) {
    if (variant == Variant::naive) return "gated_activation_backward::naive";
    const bool fits =
        cols % kPack == 0 && at.x % kPack == 0 && at.dy % kPack == 0 && at.dx % kPack == 0;
    return fits ? "gated_activation_backward::vectorized" : "gated_activation_backward::misaligned";
  }

  static Input with_gradients(Rows<T> rows) {
    const std::int64_t n = rows.size();
    return {std::move(rows), elements<T>(normal(kDtype, n, Tensor::c).values)};
  }
  static Input normals(std::int64_t rows, std::int64_t cols) {
    return with_gradients(normal_rows<T>(rows, cols));
  }

  // Ours, with everything checked but the values.
  Halves<T> run(Form form, Variant variant, const Input& in, Offsets at = {}) {
    constexpr std::int64_t kBehind = 5;
    const auto& [halves, cols] = in.rows;
    const std::int64_t n = in.rows.size();
    const std::vector<T> stored_x = scatter(side_by_side(halves, cols), contiguous({2 * n}, at.x));
    const std::vector<T> stored_dy = scatter(in.dy, contiguous({n}, at.dy));
    const auto x = device_input(stored_x, at.x, stream_);
    const auto dy = device_input(stored_dy, at.dy, stream_);
    const DeviceBuffer<T> dx(at.dx + 2 * n + kBehind);
    Hygiene hygiene(id(variant));
    hygiene.input("x", stored_x, x, stream_);
    hygiene.input("dy", stored_dy, dy, stream_);
    LaunchRecorder recorder;
    const Variant ran = gated_activation_backward::run<T>(form, x.data() + at.x, dy.data() + at.dy,
                                                          dx.data() + at.dx, in.rows.rows(), cols,
                                                          variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    EXPECT_EQ(recorder.launches().size(), n > 0 ? 1u : 0u);
    for (const LaunchRecord& launch : recorder.launches())
      EXPECT_NE(launch.kernel_name.find(kernel_of(variant, cols, at)), std::string::npos)
          << launch.kernel_name;
    return halves_of(hygiene.output(dx, contiguous({2 * n}, at.dx), stream_), cols);
  }

  struct Reference {
    Form form;
    std::vector<std::int64_t> shape;
    Halves<double> dx, tolerance, library_tolerance;

    Expectation of(const std::vector<double>& value, const std::vector<double>& bounds) const {
      if (form == Form::reglu) return exactly(kDtype, shape, value);
      return {kDtype, shape, value, bounds};
    }
    Expectation gate() const { return of(dx.gate, tolerance.gate); }
    Expectation value() const { return of(dx.value, tolerance.value); }
  };

  static Reference reference(Form form, const Input& in) {
    const UnaryOp op = oracle_op(function_of(form));
    const Halves<double> x = observed(in.rows.halves);
    const std::vector<double> dy = observe(in.dy).values;
    const Halves<double> dx = gated_gradients_oracle(op, x, dy);
    return {form,
            {in.rows.rows(), in.rows.cols},
            {stored_exactly(form, kDtype, dx.gate), stored_exactly(form, kDtype, dx.value)},
            gated_gradient_tolerances(op, kDtype, x, dy, dx),
            library_gated_gradient_tolerances(op, kDtype, x, dy, dx)};
  }

  void compare_both(Form form, Variant variant, const std::string& fill, const Input& in,
                    const Halves<T>& dx, const Reference& right) {
    EXPECT_TRUE(verdict(compare(observe(dx.gate), right.gate()),
                        context(form, variant, fill + ", gates", in)));
    EXPECT_TRUE(verdict(compare(observe(dx.value), right.value()),
                        context(form, variant, fill + ", values", in)));
  }

  // Every variant on these values, against the oracle.
  void check(Form form, const std::string& fill, const Input& in, Offsets at = {}) {
    const Reference right = reference(form, in);
    const Degenerate degenerate = degenerate_of(in.rows.size());
    EXPECT_TRUE(not_vacuous(right.gate(), degenerate)) << name(form) << " " << fill;
    EXPECT_TRUE(not_vacuous(right.value(), degenerate)) << name(form) << " " << fill;
    for (const Variant variant : kVariants)
      compare_both(form, variant, fill, in, run(form, variant, in, at), right);
  }

  Stream stream_;
};

TYPED_TEST_SUITE(GatedActivationBackward, FloatTypes, DtypeNames);

// Rows that end within packs, and such that do not; a few tiles in f32.
constexpr std::int64_t kRows = 43;
constexpr std::int64_t kOdd = 101;
constexpr std::int64_t kEven = 104;

// Gates that are their own activation, or have none, with slopes of 1 and 0.
TYPED_TEST(GatedActivationBackward, ExactFill) {
  using T = TypeParam;
  for (const std::int64_t cols : {kOdd, kEven}) {
    const auto rows = limit_rows<T>(kRows, cols);
    const std::vector<double> dy = scaled(observe(rows.halves.value).values, 1);
    const typename TestFixture::Input in{rows,
                                         elements<T>(permuted_rows(dy, permutation(rows.size())))};
    const Halves<double> x = observed(rows.halves);
    const std::vector<double> from = observe(in.dy).values;
    Halves<double> expected;
    for (std::size_t i = 0; i < from.size(); ++i) {
      expected.gate.push_back(x.gate[i] > 0 ? from[i] * x.value[i] : 0);
      expected.value.push_back(x.gate[i] > 0 ? from[i] * x.gate[i] : 0);
    }
    const Expectation gate{this->kDtype, {kRows, cols}, expected.gate, {}}; // zeros of any sign
    const Expectation value{this->kDtype, {kRows, cols}, expected.value, {}};
    EXPECT_TRUE(not_vacuous(gate));
    EXPECT_TRUE(not_vacuous(value));
    for (const Form form : kForms)
      for (const Variant variant : kVariants) {
        const Halves<T> dx = this->run(form, variant, in);
        const auto context = this->context(form, variant, "limits", in);
        EXPECT_TRUE(verdict(compare(observe(dx.gate), gate), context));
        EXPECT_TRUE(verdict(compare(observe(dx.value), value), context));
      }
  }
}

TYPED_TEST(GatedActivationBackward, RandomAgainstOracle) {
  for (const Form form : kForms)
    for (const std::int64_t cols : {kOdd, kEven})
      this->check(form, "normal", this->normals(kRows, cols));
}

TYPED_TEST(GatedActivationBackward, RandomAgainstVendors) {
  using T = TypeParam;
  const auto in = this->normals(kRows, kOdd);
  const auto x = DeviceBuffer<T>::from_host(side_by_side(in.rows.halves, kOdd), this->stream_);
  const auto dy = DeviceBuffer<T>::from_host(in.dy, this->stream_);
  for (const Form form : kForms) {
    const auto right = this->reference(form, in);
    Expectation gate = right.gate();
    Expectation value = right.value();
    gate.zero = value.zero = SignedZero::ignored; // libraries' relu gives zeros of either sign
    const auto function = vendor_function(function_of(form));
    const auto vendors = vendor::gated_activation_backward_variants(function, this->kDtype);
    if (vendors.empty()) report_no_vendor("gated_activation_backward", this->kDtype, name(form));
    for (const Variant variant : kVariants) {
      const Halves<T> ours = this->run(form, variant, in); // before the vendor
      for (const std::string_view vendor : vendors) {
        const DeviceBuffer<T> dx(2 * in.dy.size());
        vendor::gated_activation_backward(vendor, function, this->kDtype, x.data(), dy.data(),
                                          dx.data(), kRows, kOdd, this->stream_);
        const Halves<T> theirs = halves_of(dx.to_host(this->stream_), kOdd);
        const auto context =
            this->context(form, variant, "normal beside " + std::string(vendor), in);
        EXPECT_TRUE(verdict(compare_with_vendor(observe(ours.gate), observe(theirs.gate), gate,
                                                right.library_tolerance.gate),
                            context));
        EXPECT_TRUE(verdict(compare_with_vendor(observe(ours.value), observe(theirs.value), value,
                                                right.library_tolerance.value),
                            context));
      }
    }
  }
}

// Zeros, infinities, NaNs, the ends of the subnormal and normal ranges: each as a gate of each.
TYPED_TEST(GatedActivationBackward, SpecialValues) {
  using T = TypeParam;
  const auto rows = special_rows<T>();
  const auto order = permutation(rows.size());
  for (const Form form : kForms) {
    this->check(form, "special", this->with_gradients(rows));
    this->check(form, "special", {rows, permuted_rows(rows.halves.gate, order)});
  }
}

// Every pattern of a 16-bit type, and as many of f32 spread over all kinds, as a gate.
TYPED_TEST(GatedActivationBackward, AllPatterns) {
  for (const Form form : kForms)
    this->check(form, "all_bits", this->with_gradients(pattern_rows<TypeParam>()));
}

// Around a pack, a warp, a block and a tile, in both extents.
TYPED_TEST(GatedActivationBackward, Sizes) {
  const std::int64_t tile = this->kTile;
  for (const auto& [rows, cols] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, 5},        {5, 0},    {1, 1},        {1, 3},       {3, 1},   {2, 2},
           {300, 3},      {7, 4},    {5, 6},        {5, 12},      {7, 8},   {9, 7},
           {17, 16},      {3, 33},   {5, 255},      {1, 257},     {257, 1}, {3, 1024},
           {1, tile - 1}, {1, tile}, {2, tile + 8}, {tile + 1, 8}})
    this->check(Form::swiglu, "normal", this->normals(rows, cols));
}

TYPED_TEST(GatedActivationBackward, BeyondOneGrid) {
  const std::int64_t most = std::int64_t{device_properties().sm_count} * 4 * this->kTile;
  for (const std::int64_t cols : {std::int64_t{1003}, std::int64_t{1008}})
    this->check(Form::reglu, "normal", this->normals(most / cols + 2, cols));
}

// Indices of dy beyond 32 bits, in place.
TYPED_TEST(GatedActivationBackward, MoreThan2To31Elements) {
  using T = TypeParam;
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  constexpr std::int64_t kWide = (1 << 16) + 8;
  constexpr std::int64_t kN = ((1 << 15) + 1) * kWide;
  const std::string reason = too_huge_reason(3 * kN * sizeof(T));
  if (!reason.empty()) GTEST_SKIP() << reason;
  const auto value = [](double number) { return elements<T>(std::vector<double>{number})[0]; };
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> x(2 * kN), dy(kN);
    fill_bytes(x.data(), 0, x.bytes(), this->stream_);
    fill_bytes(dy.data(), 0, dy.bytes(), this->stream_);
    Marks<T> in, gradients, out;
    double next = 3;
    for (const std::int64_t index : {std::int64_t{0}, kHalf - 1, kHalf, kHalf + 1, kN - 1}) {
      const std::int64_t gate = index + index / kWide * kWide;
      in[gate] = value(next);
      in[gate + kWide] = value(5);
      gradients[index] = value(2);
      out[gate] = value(10);
      out[gate + kWide] = value(2 * next);
      ++next;
    }
    put(in, x, this->stream_);
    put(gradients, dy, this->stream_);
    gated_activation_backward::run<T>(Form::reglu, x.data(), dy.data(), x.data(), kN / kWide, kWide,
                                      variant, this->stream_);
    EXPECT_TRUE(holds(x, value(0), out, this->stream_)) << gated_activation_backward::name(variant);
    EXPECT_NO_THROW(x.check_guards());
  }
}

TYPED_TEST(GatedActivationBackward, Misaligned) {
  for (const auto& [rows, cols] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1}, {6, 7}, {6, 8}, {3, this->kTile / 2 + 8}}) {
    const auto in = this->normals(rows, cols);
    for (const std::int64_t k : {1, 4, 8}) {
      this->check(Form::swiglu, "normal", in, {k, k, k});
      this->check(Form::swiglu, "normal", in, {k, 0, 0});
      this->check(Form::swiglu, "normal", in, {0, k, 0});
      this->check(Form::swiglu, "normal", in, {0, 0, k});
    }
  }
}

TYPED_TEST(GatedActivationBackward, InPlace) {
  using T = TypeParam;
  for (const std::int64_t cols : {kOdd, kEven}) {
    const auto in = this->normals(kRows, cols);
    const auto right = this->reference(Form::swiglu, in);
    const auto dy = DeviceBuffer<T>::from_host(in.dy, this->stream_);
    for (const Variant variant : kVariants) {
      const auto x = DeviceBuffer<T>::from_host(side_by_side(in.rows.halves, cols), this->stream_);
      gated_activation_backward::run<T>(Form::swiglu, x.data(), dy.data(), x.data(), kRows, cols,
                                        variant, this->stream_);
      this->compare_both(Form::swiglu, variant, "normal, dx = x", in,
                         halves_of(x.to_host(this->stream_), cols), right);
    }
  }
}

TYPED_TEST(GatedActivationBackward, SameBitsEveryTime) {
  const auto in = this->normals(kRows, kOdd);
  for (const Form form : kForms)
    for (const Variant variant : kVariants) {
      static_assert(gated_activation_backward::deterministic(Variant::automatic));
      EXPECT_TRUE(same_bits_every_time(this->id(variant), [&] {
        return side_by_side(this->run(form, variant, in), kOdd);
      })) << gated_activation::name(form);
    }
}

// On a stream whose earlier work still writes dy.
TYPED_TEST(GatedActivationBackward, WaitsForItsStream) {
  using T = TypeParam;
  const auto in = this->normals(kRows, kOdd);
  const auto x = DeviceBuffer<T>::from_host(side_by_side(in.rows.halves, kOdd), this->stream_);
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> dx(2 * in.dy.size());
    const LateInput<T> late(in.dy, this->stream_);
    gated_activation_backward::run<T>(Form::geglu, x.data(), late.data(), dx.data(), kRows, kOdd,
                                      variant, this->stream_);
    EXPECT_TRUE(same_bits("behind a slow kernel", dx.to_host(this->stream_),
                          side_by_side(this->run(Form::geglu, variant, in), kOdd)));
  }
}

TYPED_TEST(GatedActivationBackward, AutomaticReportsWhatRan) {
  using T = TypeParam;
  const auto x = DeviceBuffer<T>::from_host(std::vector<T>(128), this->stream_);
  const auto dy = DeviceBuffer<T>::from_host(std::vector<T>(64), this->stream_);
  LaunchRecorder recorder;
  const Variant ran = gated_activation_backward::run<T>(Form::swiglu, x.data(), dy.data(), x.data(),
                                                        8, 8, Variant::automatic, this->stream_);
  EXPECT_EQ(ran, Variant::vectorized);
  ASSERT_EQ(recorder.launches().size(), 1u);
  EXPECT_NE(recorder.launches()[0].kernel_name.find("vectorized"), std::string::npos);
}

TYPED_TEST(GatedActivationBackward, RefusesWrongArguments) {
  using T = TypeParam;
  const DeviceBuffer<T> memory(48), other(16);
  T* const p = memory.data();
  const T* const q = other.data();
  LaunchRecorder recorder;
  for (const Variant variant : kVariants) {
    const auto run = [&](const T* x, const T* dy, T* dx, std::int64_t rows, std::int64_t cols) {
      gated_activation_backward::run<T>(Form::reglu, x, dy, dx, rows, cols, variant, this->stream_);
    };
    EXPECT_THROW(run(p, q, p, -1, 8), Error);
    EXPECT_THROW(run(p, q, p, 2, -8), Error);
    EXPECT_THROW(run(nullptr, q, p, 2, 8), Error);
    EXPECT_THROW(run(p, nullptr, p, 2, 8), Error);
    EXPECT_THROW(run(p, q, nullptr, 2, 8), Error);
    EXPECT_THROW(run(p, q, p + 8, 2, 8), Error) << "in place in part";
    EXPECT_THROW(run(p, p + 31, p, 2, 8), Error) << "dy within dx";
    EXPECT_NO_THROW(run(nullptr, nullptr, nullptr, 0, 8));
    EXPECT_NO_THROW(run(nullptr, nullptr, nullptr, 2, 0));
  }
  EXPECT_TRUE(recorder.launches().empty());
}

TYPED_TEST(GatedActivationBackward, WorkIsThreeReadsAndTwoWrites) {
  const Work work = gated_activation_backward::work(this->kDtype, 10, 100);
  EXPECT_EQ(work.bytes, 5000.0 * sizeof(TypeParam));
  EXPECT_EQ(work.flops, 5000.0);
}

} // namespace
} // namespace kg::test
