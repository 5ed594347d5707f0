// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// layernorm against the oracle and every vendor.
#include "tests/normalization_tests.h"
#include "tests/normalization_vendor_tests.h"
#include "vendor/layernorm/layernorm.h"

#include "layernorm/layernorm.h"

namespace kg::test {
namespace {

struct LayerNorm {
  static constexpr const char* kName = "layernorm";
  static constexpr bool kCentred = true;

  template <class T>
  static Variant run(MatrixView<const T> x, const T* gamma, const T* beta, float epsilon,
                     MatrixView<T> y, float* mean, float* rstd, Variant variant, Stream& stream) {
    return layernorm::run<T>(x, gamma, beta, epsilon, y, mean, rstd, variant, stream);
  }
  static NormOracle oracle(const std::vector<double>& x, std::int64_t rows, std::int64_t cols,
                           const std::vector<double>& gamma, const std::vector<double>& beta,
                           double epsilon) {
    return layer_norm_oracle(x, rows, cols, gamma, beta, epsilon);
  }
  static double f32_tolerance(const NormOracle& oracle, std::size_t i, std::int64_t chain) {
    return layer_norm_f32_tolerance(oracle.value[i], oracle.normalized[i], oracle.skew[i],
                                    oracle.gamma[i], oracle.beta[i], chain);
  }

  static std::vector<std::string_view> vendors(Dtype dtype) {
    return vendor::layernorm_variants(dtype);
  }
  template <class T>
  static void run_vendor(std::string_view vendor, const T* x, const T* gamma, const T* beta,
                         float epsilon, T* y, Size size, Stream& stream) {
    vendor::layernorm(vendor, dtype_of<T>, {x, gamma, beta, epsilon, y, size.rows, size.cols},
                      stream);
  }
  // See layer_norm_f32_tolerance.
  static double condition(const NormOracle& oracle, std::size_t i) {
    return (std::fabs(oracle.normalized[i]) + 1 + oracle.skew[i]) * oracle.gamma[i] +
           oracle.beta[i];
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(LayerNorm, NormForward, NormTypes<LayerNorm>, NormNames);
INSTANTIATE_TYPED_TEST_SUITE_P(LayerNorm, NormBesideVendors, NormTypes<LayerNorm>, NormNames);

template <typename Case>
class LayerNormForward : public NormForward<Case> {};
TYPED_TEST_SUITE(LayerNormForward, NormTypes<LayerNorm>, NormNames);

// Rows of m + d and m - d, as many of each: in every order the mean is m, the deviation d and the
// result beta +- gamma, all of them exact.
TYPED_TEST(LayerNormForward, ExactRows) {
  for (const Size size : {Size{24, 64}, Size{9, 998}, Size{17, 1024}, Size{6, 2052},
                          Size{3, this->beyond_block() + 1}}) {
    const Random random(seed(), 0x52);
    std::vector<double> x, expected;
    auto gamma = integers(this->kDtype, size.cols, 60, Tensor::b).values;
    const auto beta = integers(this->kDtype, size.cols, 60, Tensor::c).values;
    for (double& g : gamma) g = g == 0 ? 7 : g;
    for (std::int64_t r = 0; r < size.rows; ++r) {
      const double deviation = std::ldexp(1.0, static_cast<int>(r % 4));
      const auto mean = static_cast<double>(random.integer(static_cast<std::uint64_t>(r), -40, 40));
      for (std::int64_t c = 0; c < size.cols; ++c) {
        // Pairs of opposite signs, in either order.
        const int sign =
            random.sign(static_cast<std::uint64_t>(r * size.cols + c / 2 * 2)) * (c % 2 ? -1 : 1);
        x.push_back(mean + sign * deviation);
        const auto j = static_cast<std::size_t>(c);
        expected.push_back(sign * gamma[j] + beta[j]);
      }
    }
    auto in = this->make(size, x, 0);
    in.gamma = this->stored(gamma);
    in.beta = this->stored(beta);
    this->check_exact("m + d and m - d", in, expected);
  }
}

// A constant row gives beta as long as epsilon is not 0; so does a row of one.
TYPED_TEST(LayerNormForward, ConstantRows) {
  for (const std::int64_t cols : {std::int64_t{1}, std::int64_t{64}, std::int64_t{2048}}) {
    const Size size{5, cols};
    std::vector<double> x, expected;
    const auto beta = normal(this->kDtype, cols, Tensor::c).values;
    for (std::int64_t i = 0; i < size.rows * cols; ++i) {
      x.push_back(static_cast<double>(i / cols * 3 - 5));
      expected.push_back(beta[static_cast<std::size_t>(i % cols)]);
    }
    this->check_exact("constant rows", this->make(size, x), expected,
                      cols == 1 ? Degenerate::constant : Degenerate::no);
  }
  const std::vector<double> nan(64, std::numeric_limits<double>::quiet_NaN());
  for (const Variant variant : kVariants) {
    const auto y = this->run(variant, this->make({2, 32}, std::vector<double>(64, 3), 0)).y;
    EXPECT_TRUE(verdict(compare(observe(y), exactly(this->kDtype, {2, 32}, nan)),
                        this->context(variant, "constant rows, epsilon 0", {2, 32})));
  }
}

// The policy of the header: squares beyond f32's range count as infinite.
TYPED_TEST(LayerNormForward, SquaresBeyondTheRangeOfF32) {
  if (this->kDtype == Dtype::f16) GTEST_SKIP() << "no f16 number has such a square";
  const Size size{3, 40};
  const auto beta = normal(this->kDtype, size.cols, Tensor::c).values;
  std::vector<double> x, expected;
  for (std::int64_t i = 0; i < size.rows * size.cols; ++i) {
    x.push_back(i % 2 ? 0x1p70 : -0x1p70);
    expected.push_back(beta[static_cast<std::size_t>(i % size.cols)]);
  }
  this->check_exact("2^70", this->make(size, x), expected);
}

// |mean| / deviation of 10, 100 and 1000 (bf16, whose neighbours are 4 apart at 1000: an eighth):
// E[x^2] - mean^2 has lost the variance there.
TYPED_TEST(LayerNormForward, MeanFarFromZero) {
  const double width = this->kDtype == Dtype::bf16 ? 8 : 1;
  for (const Size size : {Size{6, 200}, Size{3, 1400}, Size{1, this->beyond_block()}})
    for (const double mean : {-10.0, 100.0, 1000.0}) {
      std::vector<double> x;
      for (const double value : normal(Dtype::f32, size.rows * size.cols, Tensor::a).values)
        x.push_back(round_to(this->kDtype, mean + width * value));
      this->check("far from zero", this->make(size, x));
    }
}

// Whole numbers moved by a whole number, in rows of a length that is a power of two: means are
// exact and move along, so not a bit may change.
TYPED_TEST(LayerNormForward, ShiftInvariance) {
  for (const Size size : {Size{20, 512}, Size{3, 2048}}) {
    const auto x = integers(this->kDtype, size.rows * size.cols, 20, Tensor::a).values;
    std::vector<double> moved = x;
    for (double& value : moved) value += 64;
    for (const Variant variant : kVariants) {
      if (!supports(variant, size.cols)) continue;
      EXPECT_TRUE(same_bits("norm(x + 64) = norm(x)", this->run(variant, this->make(size, moved)).y,
                            this->run(variant, this->make(size, x)).y))
          << name(variant);
    }
  }
}

TYPED_TEST(LayerNormForward, WorkIsOneReadAndOneWrite) {
  const Work work = layernorm::work(this->kDtype, 10, 100);
  EXPECT_EQ(work.bytes, 2200.0 * size_of(this->kDtype));
  EXPECT_EQ(work.flops, 8000.0);
}

} // namespace
} // namespace kg::test
