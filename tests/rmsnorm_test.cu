// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// rmsnorm against the oracle and every vendor.
#include "tests/normalization_tests.h"
#include "tests/normalization_vendor_tests.h"
#include "vendor/rmsnorm/rmsnorm.h"

#include "rmsnorm/rmsnorm.h"

namespace kg::test {
namespace {

struct RmsNorm : RmsReference {
  static constexpr const char* kName = "rmsnorm";

  template <class T>
  static Variant run(MatrixView<const T> x, const T* gamma, const T*, float epsilon,
                     MatrixView<T> y, float*, float* rstd, Variant variant, Stream& stream) {
    return rmsnorm::run<T>(x, gamma, epsilon, y, rstd, variant, stream);
  }

  static std::vector<std::string_view> vendors(Dtype dtype) {
    return vendor::rmsnorm_variants(dtype);
  }
  template <class T>
  static void run_vendor(std::string_view vendor, const T* x, const T* gamma, const T*,
                         float epsilon, T* y, Size size, Stream& stream) {
    vendor::rmsnorm(vendor, dtype_of<T>, {x, gamma, epsilon, y, size.rows, size.cols}, stream);
  }
  // See rms_norm_f32_tolerance.
  static double condition(const NormOracle& oracle, std::size_t i) {
    return std::fabs(oracle.value[i]);
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(RmsNorm, NormForward, NormTypes<RmsNorm>, NormNames);
INSTANTIATE_TYPED_TEST_SUITE_P(RmsNorm, NormBesideVendors, NormTypes<RmsNorm>, NormNames);

template <typename Case>
class RmsNormForward : public NormForward<Case> {};
TYPED_TEST_SUITE(RmsNormForward, NormTypes<RmsNorm>, NormNames);

// Rows of +-2^k, or of one such number in each four and zeros: the mean of the squares is a power
// of four in every order of summation, and the result +-gamma, or twice that.
TYPED_TEST(RmsNormForward, ExactRows) {
  for (const Size size :
       {Size{24, 64}, Size{9, 999}, Size{17, 1024}, Size{6, 2052}, Size{3, this->beyond_block()}}) {
    const Random random(seed(), 0x51);
    std::vector<double> x, expected;
    const std::vector<double> gamma = normal(this->kDtype, size.cols, Tensor::b).values;
    for (std::int64_t r = 0; r < size.rows; ++r) {
      const std::int64_t every = size.cols % 4 == 0 && r % 2 ? 4 : 1;
      const double magnitude = std::ldexp(1.0, static_cast<int>(r % 9) - 4);
      for (std::int64_t c = 0; c < size.cols; ++c) {
        const auto index = static_cast<std::uint64_t>(r * size.cols + c);
        const double sign = c % every ? 0 : random.sign(index);
        x.push_back(sign * magnitude);
        expected.push_back(sign * (every == 4 ? 2 : 1) * gamma[static_cast<std::size_t>(c)]);
      }
    }
    this->check_exact("powers of two", this->make(size, x, 0), expected);
  }
}

TYPED_TEST(RmsNormForward, OneColumn) {
  const std::vector<double> x = {4, -0.5, 1, -2, 8};
  const double gamma = this->kDtype == Dtype::f32 ? 1.2345679f : 1.25;
  auto in = this->make({5, 1}, x, 0);
  in.gamma = this->stored({gamma});
  this->check_exact("one column", in, {gamma, -gamma, gamma, -gamma, gamma});
}

// The policy of the header: squares beyond f32's range count as infinite.
TYPED_TEST(RmsNormForward, SquaresBeyondTheRangeOfF32) {
  if (this->kDtype == Dtype::f16) GTEST_SKIP() << "no f16 number has such a square";
  const Size size{3, 40};
  this->check_exact("2^70", this->make(size, std::vector<double>(120, 0x1p70)),
                    std::vector<double>(120, 0), Degenerate::zero);
  // Just below: 40 * 2^122 = 1.25 * 2^127.
  this->check("2^61", this->make(size, scaled(normal(Dtype::bf16, 120, Tensor::a).values, 59)));
}

TYPED_TEST(RmsNormForward, ZeroRows) {
  const Size size{2, 20};
  this->check_exact("zeros", this->make(size, std::vector<double>(40, 0)),
                    std::vector<double>(40, 0), Degenerate::zero);
  const std::vector<double> nan(40, std::numeric_limits<double>::quiet_NaN());
  for (const Variant variant : kVariants) {
    const auto y = this->run(variant, this->make(size, std::vector<double>(40, 0), 0)).y;
    EXPECT_TRUE(verdict(compare(observe(y), exactly(this->kDtype, {2, 20}, nan)),
                        this->context(variant, "zeros, epsilon 0", size)));
  }
}

TYPED_TEST(RmsNormForward, WorkIsOneReadAndOneWrite) {
  const Work work = rmsnorm::work(this->kDtype, 10, 100);
  EXPECT_EQ(work.bytes, 2100.0 * size_of(this->kDtype));
  EXPECT_EQ(work.flops, 4000.0);
}

} // namespace
} // namespace kg::test
