// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// bias_gelu_backward against the oracle and every vendor's chain; tolerances and their derivation
// in tests/oracle/oracle_bias_gelu_backward.h.
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/bias_gelu_backward_fixture.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"
#include "vendor/bias_gelu_backward/bias_gelu_backward.h"

namespace kg::test {
namespace {

TYPED_TEST_SUITE(BiasGeluBackward, FloatTypes, DtypeNames);

// Rows that are cut into pieces, the last one shorter; columns that packs take and such that not.
constexpr std::int64_t kRows = 203;
constexpr std::int64_t kEven = 72;
constexpr std::int64_t kOdd = 41;

// Sums so far from 0 that the slope is 1 or 0. Gradients are integers: every order adds to the
// same.
TYPED_TEST(BiasGeluBackward, ExactFill) {
  using T = TypeParam;
  for (const std::int64_t cols : {kEven, kOdd}) {
    const std::vector<double> bias = integers(this->kDtype, cols, 4, Tensor::b).values;
    const std::vector<double> dy = integers(this->kDtype, kRows * cols, 100, Tensor::c).values;
    std::vector<double> x, dx;
    std::vector<double> dbias(bias.size(), 0.0);
    for (std::size_t i = 0; i < dy.size(); ++i) {
      const bool right = i % 5 < 3;
      x.push_back(right ? 140 : -140);
      dx.push_back(right ? dy[i] : 0);
      dbias[i % bias.size()] += dx[i];
    }
    for (double& sum : dbias) sum = round_to(this->kDtype, sum);
    const Inputs<T> in{elements<T>(x), elements<T>(bias), elements<T>(dy)};
    const Expectation right_dx{this->kDtype, {kRows, cols}, dx, {}}; // zeros of either sign
    const Expectation right_dbias{this->kDtype, {cols}, dbias, {}};
    EXPECT_TRUE(not_vacuous(right_dx));
    EXPECT_TRUE(not_vacuous(right_dbias));
    for (const Form form : kForms)
      for (const Variant variant : kVariants) {
        const Results<T> result = this->run(form, variant, in);
        const auto context = this->context(form, variant, "limits", in);
        EXPECT_TRUE(verdict(compare(observe(result.dx), right_dx), context));
        EXPECT_TRUE(verdict(compare(observe(result.dbias), right_dbias), context));
      }
  }
}

TYPED_TEST(BiasGeluBackward, RandomAgainstOracle) {
  for (const Form form : kForms)
    for (const std::int64_t cols : {kEven, kOdd})
      this->check(form, "normal", this->normals(kRows, cols));
}

TYPED_TEST(BiasGeluBackward, RandomAgainstVendors) {
  using T = TypeParam;
  const Inputs<T> in = this->normals(kRows, kOdd);
  const auto x = DeviceBuffer<T>::from_host(in.x, this->stream_);
  const auto bias = DeviceBuffer<T>::from_host(in.bias, this->stream_);
  const auto dy = DeviceBuffer<T>::from_host(in.dy, this->stream_);
  for (const Form form : kForms) {
    const auto right = this->reference(form, in);
    const auto vendors = vendor::bias_gelu_backward_variants(vendor_form(form), this->kDtype);
    if (vendors.empty()) report_no_vendor("bias_gelu_backward", this->kDtype, name(form));
    for (const Variant variant : kVariants) {
      const Results<T> ours = this->run(form, variant, in); // before the vendor
      for (const std::string_view vendor : vendors) {
        const DeviceBuffer<T> dx(in.x.size()), dbias(in.bias.size());
        vendor::bias_gelu_backward(vendor, vendor_form(form), this->kDtype,
                                   {x.data(), bias.data(), dy.data(), dx.data(), dbias.data()},
                                   kRows, kOdd, this->stream_);
        const auto context =
            this->context(form, variant, "normal beside " + std::string(vendor), in);
        EXPECT_TRUE(
            verdict(compare_with_vendor(observe(ours.dx), observe(dx.to_host(this->stream_)),
                                        right.dx(), right.library_tolerance.dx),
                    context));
        EXPECT_TRUE(
            verdict(compare_with_vendor(observe(ours.dbias), observe(dbias.to_host(this->stream_)),
                                        right.dbias(), right.library_tolerance.dbias),
                    context));
      }
    }
  }
}

// Zeros, infinities, NaNs, the ends of the subnormal and normal ranges: each as an element beside
// each as a bias, one row per element, so that dbias has all of them to add.
TYPED_TEST(BiasGeluBackward, SpecialElements) {
  using T = TypeParam;
  const auto count = static_cast<std::ptrdiff_t>(special_values(this->kDtype).size());
  const BitPairs pairs = special_pairs(this->kDtype);
  const auto x = elements_of_bits<T>(pairs.a);
  const auto bias = elements_of_bits<T>(pairs.b);
  for (const Form form : kForms) {
    const Inputs<T> in{x, std::vector<T>(bias.begin(), bias.begin() + count),
                       this->normals(count * count, Tensor::c)};
    const auto right = this->reference(form, in);
    for (const Variant variant : kVariants)
      EXPECT_TRUE(verdict(compare(observe(this->run(form, variant, in).dx), right.dx()),
                          this->context(form, variant, "special", in)));
  }
}

// What is not finite reaches its element and its column alone.
TYPED_TEST(BiasGeluBackward, SpecialColumns) {
  using T = TypeParam;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double specials[] = {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity};
  for (const std::int64_t cols : {kEven, kOdd}) {
    auto in = this->normals(kRows, cols);
    for (std::int64_t s = 0; s < 3; ++s) {
      const T special = elements<T>(std::vector<double>{specials[s]})[0];
      in.x[static_cast<std::size_t>(7 * cols + s)] = special;
      in.dy[static_cast<std::size_t>((kRows - 1) * cols + 8 + s)] = special;
      in.bias[static_cast<std::size_t>(16 + s)] = special;
    }
    in.dy[20] = elements<T>(std::vector<double>{kInfinity})[0]; // beside an opposite one: NaN
    in.dy[static_cast<std::size_t>(100 * cols + 20)] =
        elements<T>(std::vector<double>{-kInfinity})[0];
    for (const Form form : kForms) this->check(form, "special columns", in);
  }
}

// Every pattern of a 16-bit type, and as many of f32 spread over all kinds, beside zeros and
// normals.
TYPED_TEST(BiasGeluBackward, AllPatterns) {
  using T = TypeParam;
  constexpr std::int64_t kBiases = 64;
  const auto bits = sizeof(T) == 2 ? all_bits(this->kDtype) : unique_bits(this->kDtype, 1 << 16);
  std::vector<double> bias = normal(this->kDtype, kBiases, Tensor::b).values;
  for (std::size_t i = 0; i < bias.size(); i += 2) bias[i] = 0;
  const Inputs<T> in{elements_of_bits<T>(bits), elements<T>(bias),
                     this->normals(1 << 16, Tensor::c)};
  for (const Form form : kForms) {
    const auto right = this->reference(form, in);
    EXPECT_TRUE(not_vacuous(right.dx(), Degenerate::no));
    for (const Variant variant : kVariants)
      EXPECT_TRUE(verdict(compare(observe(this->run(form, variant, in).dx), right.dx()),
                          this->context(form, variant, "all_bits", in)));
  }
}

// Around a pack, a warp, a block's width and depth, and a piece of rows.
TYPED_TEST(BiasGeluBackward, Sizes) {
  const std::int64_t wide = 32 * this->kPack;
  for (const auto& [rows, cols] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, 5},    {5, 0},    {1, 1},           {1, 3},         {3, 1},     {2, 8},
           {5, 6},    {5, 12},   {300, 3},         {63, 4},        {64, 8},    {65, 8},
           {128, 16}, {129, 16}, {7, 33},          {31, wide - 8}, {33, wide}, {70, wide + 8},
           {1, 1025}, {130, 1},  {9, 2 * wide + 3}})
    this->check(Form::tanh, "normal", this->normals(rows, cols));
}

// Indices beyond 32 bits, in place. dbias adds few that are not 0.
TYPED_TEST(BiasGeluBackward, MoreThan2To31Elements) {
  using T = TypeParam;
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  constexpr std::int64_t kWide = (1 << 16) + 8;
  constexpr std::int64_t kN = ((1 << 15) + 1) * kWide;
  const std::string reason = too_huge_reason(2 * kN * sizeof(T));
  if (!reason.empty()) GTEST_SKIP() << reason;
  const auto value = [](double x) { return elements<T>(std::vector<double>{x})[0]; };
  const auto bias = DeviceBuffer<T>::from_host(std::vector<T>(kWide, value(200)), this->stream_);
  const DeviceBuffer<T> x(kN);
  fill_bytes(x.data(), 0, x.bytes(), this->stream_);
  Marks<T> gradients, sums;
  double next = 3;
  for (const std::int64_t index : {std::int64_t{0}, kHalf - 1, kHalf, kHalf + 1, kN - 1}) {
    gradients[index] = value(next);
    sums[index % kWide] = value(next);
    ++next;
  }
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> dy(kN);
    const DeviceBuffer<T> dbias(kWide);
    const DeviceBuffer<unsigned char> workspace(workspace_bytes<T>(variant, kN / kWide, kWide));
    fill_bytes(dy.data(), 0, dy.bytes(), this->stream_);
    put(gradients, dy, this->stream_);
    bias_gelu_backward::run<T>(Form::erf,
                               {x.data(), bias.data(), dy.data(), dy.data(), dbias.data()},
                               workspace.data(), kN / kWide, kWide, variant, this->stream_);
    EXPECT_TRUE(holds(dy, value(0), gradients, this->stream_)) << bias_gelu_backward::name(variant);
    EXPECT_TRUE(holds(dbias, value(0), sums, this->stream_)) << bias_gelu_backward::name(variant);
    EXPECT_NO_THROW(dy.check_guards());
  }
}

TYPED_TEST(BiasGeluBackward, Misaligned) {
  for (const auto& [rows, cols] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1}, {6, 7}, {66, 40}}) {
    const auto in = this->normals(rows, cols);
    for (const std::int64_t k : {1, 4}) {
      this->check(Form::tanh, "normal", in, {k, k, k, k, k});
      this->check(Form::tanh, "normal", in, {k, 0, 0, 0, 0});
      this->check(Form::tanh, "normal", in, {0, k, 0, 0, 0});
      this->check(Form::tanh, "normal", in, {0, 0, k, 0, 0});
      this->check(Form::tanh, "normal", in, {0, 0, 0, k, 0});
      this->check(Form::tanh, "normal", in, {0, 0, 0, 0, k});
    }
  }
}

// dx = x and dx = dy.
TYPED_TEST(BiasGeluBackward, InPlace) {
  using T = TypeParam;
  const auto in = this->normals(kRows, kEven);
  const auto right = this->reference(Form::tanh, in);
  const auto bias = DeviceBuffer<T>::from_host(in.bias, this->stream_);
  for (const Variant variant : kVariants)
    for (const bool over_x : {true, false}) {
      const auto x = DeviceBuffer<T>::from_host(in.x, this->stream_);
      const auto dy = DeviceBuffer<T>::from_host(in.dy, this->stream_);
      const DeviceBuffer<T> dbias(in.bias.size());
      const DeviceBuffer<unsigned char> workspace(workspace_bytes<T>(variant, kRows, kEven));
      const DeviceBuffer<T>& changed = over_x ? x : dy;
      bias_gelu_backward::run<T>(Form::tanh,
                                 {x.data(), bias.data(), dy.data(), changed.data(), dbias.data()},
                                 workspace.data(), kRows, kEven, variant, this->stream_);
      this->compare_both(Form::tanh, variant, over_x ? "normal, dx = x" : "normal, dx = dy", in,
                         {changed.to_host(this->stream_), dbias.to_host(this->stream_)}, right);
    }
}

TYPED_TEST(BiasGeluBackward, SameBitsEveryTime) {
  using T = TypeParam;
  for (const std::int64_t cols : {kEven, kOdd}) {
    const auto in = this->normals(kRows, cols);
    for (const Variant variant : kVariants) {
      static_assert(bias_gelu_backward::deterministic(Variant::automatic));
      EXPECT_TRUE(same_bits_every_time(this->id(variant), [&] {
        const Results<T> result = this->run(Form::erf, variant, in);
        std::vector<T> both = result.dx;
        both.insert(both.end(), result.dbias.begin(), result.dbias.end());
        return both;
      }));
    }
  }
}

// On a stream whose earlier work still writes dy.
TYPED_TEST(BiasGeluBackward, WaitsForItsStream) {
  using T = TypeParam;
  const auto in = this->normals(kRows, kEven);
  const auto x = DeviceBuffer<T>::from_host(in.x, this->stream_);
  const auto bias = DeviceBuffer<T>::from_host(in.bias, this->stream_);
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> dx(in.x.size()), dbias(in.bias.size());
    const DeviceBuffer<unsigned char> workspace(workspace_bytes<T>(variant, kRows, kEven));
    const LateInput<T> late(in.dy, this->stream_);
    bias_gelu_backward::run<T>(Form::erf,
                               {x.data(), bias.data(), late.data(), dx.data(), dbias.data()},
                               workspace.data(), kRows, kEven, variant, this->stream_);
    const Results<T> right = this->run(Form::erf, variant, in);
    EXPECT_TRUE(same_bits("behind a slow kernel", dx.to_host(this->stream_), right.dx));
    EXPECT_TRUE(same_bits("behind a slow kernel", dbias.to_host(this->stream_), right.dbias));
  }
}

TYPED_TEST(BiasGeluBackward, AutomaticReportsWhatRan) {
  using T = TypeParam;
  const auto x = DeviceBuffer<T>::from_host(std::vector<T>(64), this->stream_);
  const auto bias = DeviceBuffer<T>::from_host(std::vector<T>(8), this->stream_);
  const DeviceBuffer<T> dbias(8);
  LaunchRecorder recorder;
  const Variant ran = bias_gelu_backward::run<T>(
      Form::erf, {x.data(), bias.data(), x.data(), x.data(), dbias.data()}, nullptr, 8, 8,
      Variant::automatic, this->stream_);
  EXPECT_EQ(ran, Variant::vectorized);
  ASSERT_EQ(recorder.launches().size(), 1u);
  EXPECT_NE(recorder.launches()[0].kernel_name.find("vectorized"), std::string::npos);
}

TYPED_TEST(BiasGeluBackward, RefusesWrongArguments) {
  using T = TypeParam;
  const DeviceBuffer<T> memory(512), others(32);
  T* const p = memory.data();
  T* const bias = others.data();
  T* const dbias = bias + 8;
  LaunchRecorder recorder;
  for (const Variant variant : kVariants) {
    const auto run = [&](const bias_gelu_backward::Arrays<T>& arrays, std::int64_t rows,
                         std::int64_t cols, void* workspace = nullptr) {
      bias_gelu_backward::run<T>(Form::tanh, arrays, workspace, rows, cols, variant, this->stream_);
    };
    EXPECT_THROW(run({p, bias, p, p, dbias}, -1, 8), Error);
    EXPECT_THROW(run({p, bias, p, p, dbias}, 2, -8), Error);
    EXPECT_THROW(run({nullptr, bias, p, p, dbias}, 2, 8), Error);
    EXPECT_THROW(run({p, nullptr, p, p, dbias}, 2, 8), Error);
    EXPECT_THROW(run({p, bias, nullptr, p, dbias}, 2, 8), Error);
    EXPECT_THROW(run({p, bias, p, nullptr, dbias}, 2, 8), Error);
    EXPECT_THROW(run({p, bias, p, p, nullptr}, 2, 8), Error);
    EXPECT_THROW(run({p, bias, p + 64, p + 8, dbias}, 2, 8), Error) << "in place in part";
    EXPECT_THROW(run({p, p + 8, p + 64, p, dbias}, 2, 8), Error) << "the bias within dx";
    EXPECT_THROW(run({p, bias, p, p, bias + 4}, 2, 8), Error) << "dbias within the bias";
    EXPECT_THROW(run({p, bias, p, p + 64, p + 72}, 2, 8), Error) << "dbias within dx";
    if (workspace_bytes<T>(variant, 128, 2) > 0) {
      EXPECT_THROW(run({p, bias, p, p, dbias}, 128, 2), Error) << "no workspace";
      EXPECT_THROW(run({p, bias, p, p, dbias}, 128, 2, dbias + 9), Error) << "not aligned";
    }
    EXPECT_NO_THROW(run({nullptr, nullptr, nullptr, nullptr, nullptr}, 2, 0));
  }
  EXPECT_TRUE(recorder.launches().empty());
}

TYPED_TEST(BiasGeluBackward, WorkspaceHoldsThePiecesSums) {
  EXPECT_EQ(workspace_bytes<TypeParam>(Variant::naive, 1 << 20, 100), 0u);
  EXPECT_EQ(workspace_bytes<TypeParam>(Variant::vectorized, 64, 101), 0u);
  EXPECT_EQ(workspace_bytes<TypeParam>(Variant::vectorized, 65, 101), 2u * 104 * sizeof(float));
}

TYPED_TEST(BiasGeluBackward, WorkIsTwoReadsAndOneWrite) {
  const Work work = bias_gelu_backward::work(this->kDtype, 10, 100);
  EXPECT_EQ(work.bytes, 3200.0 * sizeof(TypeParam));
  EXPECT_EQ(work.flops, 4000.0);
}

} // namespace
} // namespace kg::test
