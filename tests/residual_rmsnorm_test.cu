// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// residual_rmsnorm against the oracle and every vendor. What rmsnorm's own tests show of the
// kernels that the two share, scales and epsilons say, is not repeated.
#include "tests/oracle/random.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/residual_rmsnorm_fixture.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"
#include "tests/support/vendor_runs.h"
#include "vendor/residual_rmsnorm/residual_rmsnorm.h"

#include <limits>
#include <utility>

namespace kg::test {
namespace {

TYPED_TEST_SUITE(ResidualForward, NormTypes<ResidualRmsNorm>, NormNames);

// Sums of +-2^k, or of one such number in each four and zeros: the mean of the squares is a power
// of four in every order of summation, and the result +-gamma, or twice that. The sums are exact,
// those of neighbouring multiples of 2^k.
TYPED_TEST(ResidualForward, ExactRows) {
  for (const Size size :
       {Size{24, 64}, Size{9, 999}, Size{17, 1024}, Size{6, 2052}, Size{3, this->beyond_block()}}) {
    const Random random(seed(), 0x52);
    std::vector<double> x, residual, z, y;
    const std::vector<double> gamma = normal(this->kDtype, size.cols, Tensor::b).values;
    for (std::int64_t r = 0; r < size.rows; ++r) {
      const std::int64_t every = size.cols % 4 == 0 && r % 2 ? 4 : 1;
      const double magnitude = std::ldexp(1.0, static_cast<int>(r % 9) - 4);
      for (std::int64_t c = 0; c < size.cols; ++c) {
        const auto index = static_cast<std::uint64_t>(r * size.cols + c);
        const double sign = c % every ? 0 : random.sign(index);
        const auto of_residual = static_cast<double>(random.integer(index, -3, 3));
        residual.push_back(of_residual * magnitude);
        x.push_back((sign - of_residual) * magnitude);
        z.push_back(sign * magnitude);
        y.push_back(sign * (every == 4 ? 2 : 1) * gamma[static_cast<std::size_t>(c)]);
      }
    }
    this->check_exact("powers of two", this->make(size, x, residual, 0), z, y);
  }
}

// The vendor rounds the sum, too, so that both normalise the same numbers.
TYPED_TEST(ResidualForward, RandomAgainstVendors) {
  using T = typename TypeParam::T;
  const auto vendors = vendor::residual_rmsnorm_variants(this->kDtype);
  if (vendors.empty()) report_no_vendor("residual_rmsnorm", this->kDtype);
  for (const Size size : {Size{64, 200}, Size{17, 1024}, Size{4, 3001}}) {
    const auto in = this->normals(size);
    const std::vector<double> z = this->sums(in);
    const NormOracle oracle =
        this->reference({size, this->stored(z), in.gamma, {}, in.epsilon, true}).oracle;
    const auto vendor_tolerance = this->tolerances(oracle, size.cols);
    for (const std::string_view vendor : vendors)
      for (const Variant variant : kVariants) {
        if (!supports(variant, size.cols)) continue;
        const auto ours = this->run(variant, in); // before the vendor writes the same values
        const auto x = this->upload(in.x, this->stream_);
        const auto residual = this->upload(in.residual, this->stream_);
        const auto gamma = this->upload(in.gamma, this->stream_);
        const DeviceBuffer<T> sum(in.x.size()), y(in.x.size());
        if (!vendor_runs([&] {
              vendor::residual_rmsnorm(vendor, this->kDtype,
                                       {x.data(), residual.data(), gamma.data(), in.epsilon,
                                        sum.data(), y.data(), size.rows, size.cols},
                                       this->stream_);
            })) {
          report_no_vendor("residual_rmsnorm", this->kDtype, vendor);
          continue;
        }
        const auto tolerance = this->tolerances(oracle, normalization::chain(variant, size.cols));
        const Expectation expected{this->kDtype, {size.rows, size.cols}, oracle.value, tolerance};
        EXPECT_TRUE(same_bits("z", sum.to_host(this->stream_), ours.z)) << vendor;
        EXPECT_TRUE(verdict(compare_with_vendor(observe(ours.y), observe(y.to_host(this->stream_)),
                                                expected, vendor_tolerance),
                            this->context(variant, "normal beside " + std::string(vendor), size)));
      }
  }
}

TYPED_TEST(ResidualForward, RandomAgainstOracle) {
  for (const Size size :
       {Size{65, 96}, Size{9, 1000}, Size{9, 1536}, Size{3, 8200}, Size{2, this->beyond_block()}})
    this->check("normal", this->normals(size));
}

// A residual so small that T keeps little of it: what is normalised is the rounded sum.
TYPED_TEST(ResidualForward, TheRoundedSumIsNormalised) {
  for (const Size size : {Size{9, 64}, Size{3, 1536}, Size{2, this->beyond_block()}}) {
    const double step = ulp(this->kDtype, 1);
    std::vector<double> residual;
    for (const double value : this->numbers(size, Tensor::c))
      residual.push_back(round_to(this->kDtype, value * step));
    this->check("less than an ulp", this->make(size, this->numbers(size, Tensor::a), residual));
  }
}

TYPED_TEST(ResidualForward, Lengths) {
  for (const std::int64_t cols : {2,   3,   7,   8,   9,    31,   32,   33,   127,  129,
                                  255, 257, 511, 513, 1023, 1024, 1025, 2049, 4099, 16384})
    this->check("normal", this->normals({cols > 4000 ? 2 : 3, cols}));
}

TYPED_TEST(ResidualForward, RowCounts) {
  for (const std::int64_t rows : {1, 3, 4, 5, 127, 128, 129})
    this->check("normal", this->normals({rows, 24}));
}

// Rows without elements have no statistics: none are written.
TYPED_TEST(ResidualForward, EmptyMatrices) {
  for (const Size size : {Size{0, 5}, Size{5, 0}, Size{0, 0}})
    for (const Variant variant : kVariants) {
      const auto result = this->run(variant, this->normals(size));
      EXPECT_TRUE(result.z.empty());
      EXPECT_TRUE(result.y.empty());
      for (const float rstd : result.rstd) EXPECT_TRUE(is_poison(rstd));
    }
}

// Rows and gamma that are padded, unaligned, or aligned only at their first element.
TYPED_TEST(ResidualForward, LayoutsAndAlignment) {
  const std::int64_t pack = this->kPack;
  for (const std::int64_t cols : {5 * pack, 40 * pack + 3, 160 * pack}) {
    const std::int64_t fill = (pack - cols % pack) % pack; // the gap that aligns every row
    const Place even{fill, 0};
    for (const Places& at :
         {Places{even, even, even, even, 0},
          Places{{fill + pack, 0}, {fill, pack}, {fill + 2 * pack, 0}, {fill, 2 * pack}, pack},
          Places{{fill, 1}, {fill, 1}, {fill, 1}, {fill, 1}, 1},
          Places{{fill, 1}, even, even, even}, Places{even, {fill + 1, 0}, even, even},
          Places{even, {fill, 2}, even, even}, Places{even, even, {fill + 1, 0}, even},
          Places{even, even, {fill, 3}, even}, Places{even, even, even, {fill + 1, 0}},
          Places{even, even, even, even, 1}})
      this->check("normal", this->normals({3, cols}), at);
  }
  this->check("normal", this->normals({2, this->beyond_block()}),
              {{1, 1}, {2, 0}, {3, 2}, {4, 0}, 3});
}

TYPED_TEST(ResidualForward, OptionalArguments) {
  for (const Size size : {Size{20, 100}, Size{3, 1300}}) {
    auto in = this->normals(size);
    in.wants_rstd = false;
    this->check("no rstd", in);
    in.gamma.clear();
    this->check("no gamma, no rstd", in);
    in.wants_rstd = true;
    this->check("no gamma", in);
  }
}

// One special value in each place that a thread, a pack or a row could lose, in either operand; the
// other rows stay as they are.
TYPED_TEST(ResidualForward, SpecialValues) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const double largest = max_finite(this->kDtype);
  for (const std::int64_t cols :
       {std::int64_t{2}, std::int64_t{67}, std::int64_t{1024}, this->beyond_block()}) {
    const std::vector<std::pair<double, double>> specials = {
        {kNan, 1},         {1, kNan}, {kInfinity, 1}, {-1, -kInfinity}, {kInfinity, -kInfinity},
        {largest, largest}};
    const Size size{2 * static_cast<std::int64_t>(specials.size()), cols};
    std::vector<double> x = this->numbers(size, Tensor::a);
    std::vector<double> residual = this->numbers(size, Tensor::c);
    for (std::size_t s = 0; s < specials.size(); ++s) {
      const std::int64_t place = s % 3 == 0 ? cols - 1 : s % 3 == 1 ? 0 : cols / 2;
      const auto at = 2 * s * static_cast<std::size_t>(cols) + static_cast<std::size_t>(place);
      x[at] = specials[s].first;
      residual[at] = specials[s].second;
    }
    this->check("special", this->make(size, x, residual));
  }
}

// As transformers use it: z is the next residual, y the block's input; or the other way round.
TYPED_TEST(ResidualForward, InPlace) {
  using T = typename TypeParam::T;
  for (const Size size : {Size{9, 700}, Size{3, 2048}, Size{2, this->beyond_block()}}) {
    const auto in = this->normals(size);
    for (const Variant variant : kVariants) {
      if (!supports(variant, size.cols)) continue;
      const auto right = this->run(variant, in);
      for (const bool sum_in_x : {false, true}) {
        const auto x = this->upload(in.x, this->stream_);
        const auto residual = this->upload(in.residual, this->stream_);
        const auto gamma = this->upload(in.gamma, this->stream_);
        const auto& z = sum_in_x ? x : residual;
        const auto& y = sum_in_x ? residual : x;
        residual_rmsnorm::run<T>({kg::matrix<const T>(x.data(), size.rows, size.cols),
                                  kg::matrix<const T>(residual.data(), size.rows, size.cols),
                                  kg::matrix<T>(z.data(), size.rows, size.cols),
                                  kg::matrix<T>(y.data(), size.rows, size.cols)},
                                 gamma.data(), in.epsilon, nullptr, variant, this->stream_);
        EXPECT_TRUE(same_bits("z in place", z.to_host(this->stream_), right.z)) << name(variant);
        EXPECT_TRUE(same_bits("y in place", y.to_host(this->stream_), right.y)) << name(variant);
        EXPECT_NO_THROW(x.check_guards());
        EXPECT_NO_THROW(residual.check_guards());
      }
    }
  }
}

TYPED_TEST(ResidualForward, SameBitsEveryTime) {
  for (const Size size : {Size{10, 777}, Size{3, 1500}, Size{1, this->beyond_block()}}) {
    const auto in = this->normals(size);
    for (const Variant variant : kVariants) {
      if (!supports(variant, size.cols)) continue;
      EXPECT_TRUE(
          same_bits_every_time(this->id(variant), [&] { return this->run(variant, in).y; }));
    }
  }
}

// Rows are computed apart: they may change places, and what is in one reaches no other.
TYPED_TEST(ResidualForward, RowsAreIndependent) {
  for (const Size size : {Size{9, 300}, Size{5, 1300}}) {
    const auto in = this->normals(size);
    const std::vector<std::int64_t> order = permutation(size.rows);
    for (const Variant variant : kVariants) {
      if (!supports(variant, size.cols)) continue;
      const auto y = this->run(variant, in).y;
      auto changed = in;
      changed.x = permuted_rows(in.x, order);
      changed.residual = permuted_rows(in.residual, order);
      EXPECT_TRUE(same_bits("norm(P z) = P norm(z)", this->run(variant, changed).y,
                            permuted_rows(y, order)))
          << name(variant);
      changed = in;
      changed.residual[static_cast<std::size_t>(4 * size.cols - 1)] = this->stored({30.0})[0];
      EXPECT_TRUE(only_row_differs(y, this->run(variant, changed).y, size.cols, 3))
          << name(variant);
    }
  }
}

// On a stream whose earlier work still writes the residual.
TYPED_TEST(ResidualForward, WaitsForItsStream) {
  using T = typename TypeParam::T;
  for (const Size size : {Size{5, 200}, Size{3, 1500}}) {
    auto in = this->normals(size);
    in.gamma.clear();
    for (const Variant variant : kVariants) {
      if (!supports(variant, size.cols)) continue;
      const auto x = this->upload(in.x, this->stream_);
      const DeviceBuffer<T> z(in.x.size());
      const DeviceBuffer<T> y(in.x.size());
      const LateInput<T> late(in.residual, this->stream_);
      residual_rmsnorm::run<T>({kg::matrix<const T>(x.data(), size.rows, size.cols),
                                kg::matrix<const T>(late.data(), size.rows, size.cols),
                                kg::matrix<T>(z.data(), size.rows, size.cols),
                                kg::matrix<T>(y.data(), size.rows, size.cols)},
                               nullptr, in.epsilon, nullptr, variant, this->stream_);
      EXPECT_TRUE(
          same_bits("behind a slow kernel", y.to_host(this->stream_), this->run(variant, in).y))
          << name(variant);
    }
  }
}

// Indices beyond 32 bits, z and y in place. Sums of a number and zero everywhere, and three rows of
// +1 + 1 and -1 - 1: with epsilon 12 those give one half.
TYPED_TEST(ResidualForward, MoreThan2To31Elements) {
  using T = typename TypeParam::T;
  constexpr std::int64_t kCols = 1024;
  constexpr std::int64_t kRows = (std::int64_t{1} << 31) / kCols + 3;
  constexpr float kEpsilon = 12;
  const std::string reason = too_huge_reason(2 * kRows * kCols * sizeof(T));
  if (!reason.empty()) GTEST_SKIP() << reason;
  constexpr unsigned char kByte = 0x3C; // a normal number of each type
  const T element = from_raw_bits<T>(0x3C3C3C3Cu & poison_bits(this->kDtype));
  const double filled = to_double(element);
  const auto value = [&](double of) { return this->stored({round_to(this->kDtype, of)})[0]; };
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> x(static_cast<std::size_t>(kRows * kCols));
    const DeviceBuffer<T> residual(static_cast<std::size_t>(kRows * kCols));
    fill_bytes(x.data(), kByte, x.bytes(), this->stream_);
    fill_bytes(residual.data(), 0, residual.bytes(), this->stream_);
    Marks<T> ones, sums, halves;
    for (const std::int64_t row : {std::int64_t{0}, kRows - 3, kRows - 1})
      for (std::int64_t i = row * kCols; i < (row + 1) * kCols; ++i) {
        const double sign = i % 2 ? -1 : 1;
        ones[i] = value(sign);
        sums[i] = value(2 * sign);
        halves[i] = value(sign / 2);
      }
    put(ones, x, this->stream_);
    put(ones, residual, this->stream_);
    residual_rmsnorm::run<T>({kg::matrix<const T>(x.data(), kRows, kCols),
                              kg::matrix<const T>(residual.data(), kRows, kCols),
                              kg::matrix<T>(residual.data(), kRows, kCols),
                              kg::matrix<T>(x.data(), kRows, kCols)},
                             nullptr, kEpsilon, nullptr, variant, this->stream_);
    EXPECT_TRUE(holds(residual, element, sums, this->stream_)) << name(variant);
    EXPECT_TRUE(
        holds(x, value(filled / std::sqrt(filled * filled + kEpsilon)), halves, this->stream_))
        << name(variant);
  }
}

TYPED_TEST(ResidualForward, AutomaticReportsWhatRan) {
  using T = typename TypeParam::T;
  for (const std::int64_t cols : {normalization::kWarpMaxCols, normalization::kWarpMaxCols + 1}) {
    const auto x = this->upload(this->normals({1, cols}).x, this->stream_);
    const DeviceBuffer<T> z(static_cast<std::size_t>(cols));
    LaunchRecorder recorder;
    const Variant ran = residual_rmsnorm::run<T>(
        {kg::matrix<const T>(x.data(), 1, cols), kg::matrix<const T>(x.data(), 1, cols),
         kg::matrix<T>(z.data(), 1, cols), kg::matrix<T>(x.data(), 1, cols)},
        nullptr, 1, nullptr, Variant::automatic, this->stream_);
    EXPECT_EQ(ran, cols <= normalization::kWarpMaxCols ? Variant::warp : Variant::block);
    ASSERT_EQ(recorder.launches().size(), 1u);
    EXPECT_NE(recorder.launches()[0].kernel_name.find(name(ran)), std::string::npos);
  }
}

TYPED_TEST(ResidualForward, RefusesWrongArguments) {
  using T = typename TypeParam::T;
  const DeviceBuffer<T> data(64);
  const DeviceBuffer<T> other(64);
  const residual_rmsnorm::Matrices<T> right{{data.data(), {4, 8}, {8, 1}},
                                            {data.data(), {4, 8}, {8, 1}},
                                            {other.data(), {4, 8}, {8, 1}},
                                            {data.data(), {4, 8}, {8, 1}}};
  const auto refused = [&](auto change) {
    residual_rmsnorm::Matrices<T> wrong = right;
    change(wrong);
    EXPECT_THROW(
        residual_rmsnorm::run<T>(wrong, nullptr, 1, nullptr, Variant::automatic, this->stream_),
        Error);
  };
  LaunchRecorder recorder;
  refused([](auto& m) { m.x.data = nullptr; });
  refused([](auto& m) { m.residual.data = nullptr; });
  refused([](auto& m) { m.z.data = nullptr; });
  refused([](auto& m) { m.y.data = nullptr; });
  refused([](auto& m) { m.x.shape[1] = 7; });
  refused([](auto& m) { m.residual.shape[1] = 7; });
  refused([](auto& m) { m.z.shape[0] = 3; });
  refused([](auto& m) { m.y.shape[0] = 3; });
  refused([](auto& m) { m.residual.stride[0] = 7; });
  refused([](auto& m) { m.z.stride = {16, 2}; });
  refused([](auto& m) { m.z.data = m.y.data; });
  for (const float epsilon : {-1e-5f, std::numeric_limits<float>::quiet_NaN()})
    EXPECT_THROW(residual_rmsnorm::run<T>(right, nullptr, epsilon, nullptr, Variant::automatic,
                                          this->stream_),
                 Error);
  T* const p = data.data();
  const residual_rmsnorm::Matrices<T> longer{{p, {1, 1025}, {1025, 1}},
                                             {p, {1, 1025}, {1025, 1}},
                                             {other.data(), {1, 1025}, {1025, 1}},
                                             {p, {1, 1025}, {1025, 1}}};
  EXPECT_THROW(residual_rmsnorm::run<T>(longer, nullptr, 1, nullptr, Variant::warp, this->stream_),
               Error);
  EXPECT_TRUE(recorder.launches().empty());
}

TYPED_TEST(ResidualForward, WorkIsTwoReadsAndTwoWrites) {
  const Work work = residual_rmsnorm::work(this->kDtype, 10, 100);
  EXPECT_EQ(work.bytes, 4100.0 * size_of(this->kDtype));
  EXPECT_EQ(work.flops, 5000.0);
}

} // namespace
} // namespace kg::test
