// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/fills.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "tests/oracle/numbers.h"

namespace kg::test {
namespace {

// Rounds to `bits` significant bits, nearest even: TF32 has 11, bf16 8, f16 (within its range) 11.
double to_significant(double x, int bits) {
  if (x == 0) return 0;
  const int exponent = std::ilogb(x) - (bits - 1);
  return std::ldexp(std::nearbyint(std::ldexp(x, -exponent)), exponent);
}
constexpr int kTf32 = 11;
constexpr int kBf16 = 8;

std::vector<double> narrowed(std::vector<double> values, int bits) {
  for (double& value : values) value = to_significant(value, bits);
  return values;
}

enum class Order { forward, reverse, fma, eight_way, split };

// One dot product in f32 in a given order.
float dot(const std::vector<double>& a, const std::vector<double>& b, const ProductShape& s,
          std::int64_t i, std::int64_t j, Order order) {
  const auto at = [&](std::int64_t l) {
    return std::pair{static_cast<float>(a[static_cast<std::size_t>(i * s.k + l)]),
                     static_cast<float>(b[static_cast<std::size_t>(l * s.n + j)])};
  };
  std::array<float, 8> parts{};
  for (std::int64_t step = 0; step < s.k; ++step) {
    const auto [x, y] = at(order == Order::reverse ? s.k - 1 - step : step);
    const std::size_t lane = order == Order::eight_way ? static_cast<std::size_t>(step % 8)
                             : order == Order::split   ? static_cast<std::size_t>(step * 8 / s.k)
                                                       : 0;
    parts[lane] = order == Order::fma ? std::fma(x, y, parts[lane]) : parts[lane] + x * y;
  }
  float sum = 0;
  for (const float part : parts) sum += part;
  return sum;
}

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b,
                            const ProductShape& s, Order order = Order::forward) {
  std::vector<double> c;
  for (std::int64_t i = 0; i < s.m; ++i)
    for (std::int64_t j = 0; j < s.n; ++j) c.push_back(dot(a, b, s, i, j, order));
  return c;
}

double share_changed(const std::vector<double>& x, const std::vector<double>& y) {
  int changed = 0;
  for (std::size_t i = 0; i < x.size(); ++i) changed += x[i] != y[i] ? 1 : 0;
  return changed / static_cast<double>(x.size());
}

void expect_representable(Dtype dtype, const std::vector<double>& values) {
  for (const double value : values) ASSERT_TRUE(is_representable(dtype, value)) << value;
}

struct ProductCase {
  Dtype input, output;
  ProductRange range;
  std::int64_t k;
};

class ExactProduct : public testing::TestWithParam<ProductCase> {};

TEST_P(ExactProduct, is_exact_in_every_order_and_within_its_limit) {
  const auto [input, output, range, k] = GetParam();
  const ProductShape shape{24, 24, k};
  const FillPair fill = exact_product(input, output, range, shape);
  expect_representable(input, fill.a);
  expect_representable(input, fill.b);
  const GemmOracle oracle =
      gemm_oracle({matrix(24, k, k), matrix(k, 24, 24), matrix(24, 24, 24)}, fill.a, fill.b, {});
  for (const double sum : oracle.condition) ASSERT_LE(sum, exact_limit(output));
  for (const Order order :
       {Order::forward, Order::reverse, Order::fma, Order::eight_way, Order::split})
    ASSERT_EQ(product(fill.a, fill.b, shape, order), oracle.value);
}

TEST_P(ExactProduct, keeps_the_tail_and_the_last_column_dense) {
  const auto& [input, output, range, length] = GetParam();
  const std::int64_t k = length; // clang 14 captures no structured binding
  const std::int64_t n = 24;
  const FillPair fill = exact_product(input, output, range, {24, n, k});
  const auto a = [&](std::int64_t i, std::int64_t l) {
    return fill.a[static_cast<std::size_t>(i * k + l)];
  };
  const auto b = [&](std::int64_t l, std::int64_t j) {
    return fill.b[static_cast<std::size_t>(l * n + j)];
  };
  const std::int64_t tail = output == Dtype::f16 ? 8 : 32;
  for (std::int64_t l = std::max<std::int64_t>(0, k - tail); l < k; ++l) {
    for (std::int64_t i = 0; i < 24; ++i) ASSERT_NE(a(i, l), 0);
    for (std::int64_t j = 0; j < n; ++j) ASSERT_NE(b(l, j), 0);
  }
  for (std::int64_t l = 0; l < k; ++l) ASSERT_NE(b(l, n - 1), 0);
  // Nonzeros reach all of k: no piece of 1 / 4 is empty.
  for (std::int64_t piece = 0; k >= 64 && piece < 4; ++piece) {
    bool any = false;
    for (std::int64_t l = piece * k / 4; l < (piece + 1) * k / 4; ++l)
      for (std::int64_t i = 0; i < 24; ++i) any = any || a(i, l) != 0;
    ASSERT_TRUE(any) << piece;
  }
}

INSTANTIATE_TEST_SUITE_P(
    fills, ExactProduct,
    testing::Values(ProductCase{Dtype::f32, Dtype::f32, ProductRange::r1, 1},
                    ProductCase{Dtype::f32, Dtype::f32, ProductRange::r1, 300},
                    ProductCase{Dtype::f32, Dtype::f32, ProductRange::r1w_a, 64},
                    ProductCase{Dtype::f32, Dtype::f32, ProductRange::r1w_b, 64},
                    ProductCase{Dtype::f32, Dtype::f32, ProductRange::r1w_a, 2049},
                    ProductCase{Dtype::f32, Dtype::f32, ProductRange::r1w_b, 5000},
                    ProductCase{Dtype::bf16, Dtype::bf16, ProductRange::r1, 5000},
                    ProductCase{Dtype::bf16, Dtype::f32, ProductRange::r1w_a, 257},
                    ProductCase{Dtype::f16, Dtype::f16, ProductRange::r1, 128},
                    ProductCase{Dtype::f16, Dtype::f16, ProductRange::r1w_b, 300},
                    ProductCase{Dtype::f16, Dtype::f32, ProductRange::r1w_a, 300}));

// What the wide form is for, and what the narrow one (8 bits by 7) cannot see.
TEST(Fills, wide_products_expose_narrow_inputs) {
  for (const std::int64_t k : {64, 1024, 4096}) {
    const ProductShape shape{48, 48, k};
    for (const ProductRange range : {ProductRange::r1w_a, ProductRange::r1w_b}) {
      const FillPair fill = exact_product(Dtype::f32, Dtype::f32, range, shape);
      const std::vector<double> exact = product(fill.a, fill.b, shape);
      for (const int bits : {kTf32, kBf16}) {
        const double share =
            share_changed(exact, product(narrowed(fill.a, bits), narrowed(fill.b, bits), shape));
        EXPECT_GT(share, 0.9) << "k " << k << ", " << bits << " bits, " << fill.name;
      }
      for (const double value : range == ProductRange::r1w_a ? fill.a : fill.b) {
        const double size = std::fabs(value);
        ASSERT_TRUE(size == 0 || (size > 4096 && size < 8192 && std::fmod(size, 2) == 1)) << value;
      }
    }
  }
  const ProductShape shape{48, 48, 256};
  const FillPair narrow = exact_product(Dtype::f32, Dtype::f32, ProductRange::r1, shape);
  EXPECT_EQ(narrowed(narrow.a, kTf32), narrow.a);
}

TEST(Fills, random_numbers_reach_both_ends_of_an_integer_type) {
  const std::vector<double> values = random_numbers(Dtype::i8, 10000, Tensor::a).values;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  EXPECT_EQ(*least, -128);
  EXPECT_EQ(*most, 127);
  const std::vector<double> natural = random_numbers(Dtype::u32, 1000, Tensor::a).values;
  const auto [low, high] = std::minmax_element(natural.begin(), natural.end());
  EXPECT_GE(*low, 0);
  EXPECT_LT(*low, 0x1p26);
  EXPECT_GT(*high, 0x1p32 - 0x1p26);
  EXPECT_EQ(random_numbers(Dtype::f16, 9, Tensor::b).values,
            normal(Dtype::f16, 9, Tensor::b).values);
}

// Each of an i64's bytes must differ, lest a sort forget one.
TEST(Fills, random_numbers_have_both_values_of_each_bit_of_i64) {
  std::uint64_t set = 0, clear = 0;
  for (const double value : random_numbers(Dtype::i64, 1000, Tensor::a).values) {
    const std::uint64_t bits = encode(Dtype::i64, value);
    set |= bits;
    clear |= ~bits;
  }
  EXPECT_EQ(set, ~std::uint64_t{0});
  EXPECT_EQ(clear, ~std::uint64_t{0});
}

TEST(Fills, a_smaller_limit_leaves_room_for_alpha_and_beta) {
  const FillPair fill =
      exact_product(Dtype::f32, Dtype::f32, ProductRange::r1w_a, {8, 8, 4000}, 0x1p20);
  const GemmOracle oracle =
      gemm_oracle({matrix(8, 4000, 4000), matrix(4000, 8, 8), matrix(8, 8, 8)}, fill.a, fill.b, {});
  for (const double sum : oracle.condition) EXPECT_LE(sum, 0x1p20);
  EXPECT_THROW(exact_product(Dtype::f32, Dtype::f32, ProductRange::r1, {1, 1, 1}, 0x1p25), Error);
  EXPECT_THROW(exact_product(Dtype::f32, Dtype::f32, ProductRange::r1, {1, 1, 9}, 100), Error);
  EXPECT_THROW(exact_product(Dtype::f64, Dtype::f64, ProductRange::r1, {1, 1, 1}), Error);
}

TEST(Fills, sums_are_exact_in_every_order) {
  for (const SumRange range : {SumRange::wide, SumRange::dense}) {
    for (const std::int64_t length : {1, 31, 2049, 300000}) {
      const Fill fill = exact_sums(Dtype::f32, Dtype::f32, range, 3, length);
      const SumOracle oracle = row_sums_oracle(fill.values, 3, length);
      const ProductShape shape{3, 1, length};
      const std::vector<double> ones(static_cast<std::size_t>(length), 1.0);
      for (const double sum : oracle.sum_abs) ASSERT_LE(sum, 0x1p24);
      for (const Order order : {Order::forward, Order::reverse, Order::eight_way, Order::split})
        ASSERT_EQ(product(fill.values, ones, shape, order), oracle.value);
      const auto zeros = std::count(fill.values.begin(), fill.values.end(), 0.0);
      if (range == SumRange::dense || length <= 2048) {
        EXPECT_EQ(zeros, 0);
      } else {
        EXPECT_EQ(static_cast<std::int64_t>(fill.values.size()) - zeros, 3 * 2048);
      }
    }
  }
  const Fill half = exact_sums(Dtype::f16, Dtype::f16, SumRange::dense, 2, 1000);
  for (const double sum : row_sums_oracle(half.values, 2, 1000).sum_abs) EXPECT_LE(sum, 65504);
  expect_representable(Dtype::f16, half.values);
}

TEST(Fills, wide_sums_expose_narrow_inputs) {
  const std::int64_t rows = 500, length = 1024;
  const Fill fill = exact_sums(Dtype::f32, Dtype::f32, SumRange::wide, rows, length);
  const std::vector<double> exact = row_sums_oracle(fill.values, rows, length).value;
  for (const int bits : {kTf32, kBf16})
    EXPECT_GT(
        share_changed(exact, row_sums_oracle(narrowed(fill.values, bits), rows, length).value),
        0.9);
}

TEST(Fills, elementwise_results_are_exact_and_expose_narrow_formats) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
    const int narrower = dtype == Dtype::f32 ? kTf32 : dtype == Dtype::f16 ? kBf16 : 4;
    for (const elementwise::Op op :
         {elementwise::Op::add, elementwise::Op::sub, elementwise::Op::mul, elementwise::Op::div}) {
      const FillPair fill = exact_elementwise(dtype, op, 5000);
      expect_representable(dtype, fill.a);
      expect_representable(dtype, fill.b);
      const std::vector<double> result = elementwise_oracle(op, dtype, fill.a, fill.b);
      const std::vector<double> na = narrowed(fill.a, narrower), nb = narrowed(fill.b, narrower);
      std::vector<double> downgraded;
      for (std::size_t i = 0; i < result.size(); ++i) {
        const double a = fill.a[i], b = fill.b[i];
        const double exact = op == elementwise::Op::add   ? a + b
                             : op == elementwise::Op::sub ? a - b
                             : op == elementwise::Op::mul ? a * b
                                                          : a / b;
        ASSERT_EQ(result[i], exact);
        const double x = na[i], y = nb[i];
        downgraded.push_back(to_significant(op == elementwise::Op::add   ? x + y
                                            : op == elementwise::Op::sub ? x - y
                                            : op == elementwise::Op::mul ? x * y
                                                                         : x / y,
                                            narrower));
      }
      EXPECT_GT(share_changed(result, downgraded), 0.5)
          << name(dtype) << " op " << static_cast<int>(op);
    }
  }
}

TEST(Fills, random_fills_are_representable_reproducible_and_different_per_tensor) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
    const Fill a = normal(dtype, 4000, Tensor::a, 1);
    expect_representable(dtype, a.values);
    EXPECT_EQ(normal(dtype, 4000, Tensor::a, 1).values, a.values);
    EXPECT_GT(share_changed(normal(dtype, 4000, Tensor::b, 1).values, a.values), 0.9);
    EXPECT_GT(share_changed(normal(dtype, 4000, Tensor::a, 2).values, a.values), 0.9);
    // Full significands: a narrower format holds few of them.
    EXPECT_GT(share_changed(narrowed(a.values, float_format(dtype).precision - 4), a.values), 0.9);
    const Fill p = positive(dtype, 4000, Tensor::a, 1);
    expect_representable(dtype, p.values);
    EXPECT_GT(*std::min_element(p.values.begin(), p.values.end()), 0);
    EXPECT_LE(*std::max_element(p.values.begin(), p.values.end()), 1);
    const Fill o = outliers(dtype, 4000, 1000, 1e30, Tensor::a, 1);
    expect_representable(dtype, o.values);
    const double threshold = std::min(1e25, max_finite(dtype) / 2);
    EXPECT_EQ(std::count_if(o.values.begin(), o.values.end(),
                            [&](double x) { return std::fabs(x) > threshold; }),
              4);
  }
}

TEST(Fills, integers_are_bounded_and_representable) {
  const Fill fill = integers(Dtype::bf16, 1000, 256, Tensor::c);
  expect_representable(Dtype::bf16, fill.values);
  for (const double value : fill.values) ASSERT_LE(std::fabs(value), 256);
  EXPECT_THROW(integers(Dtype::bf16, 1, 257, Tensor::c), Error);
}

TEST(Fills, softmax_plateaus_give_exact_powers_of_two) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
    for (const std::int64_t columns : {1, 2, 33, 1024, 1025}) {
      const std::int64_t rows = 40;
      const SoftmaxFill fill = softmax_plateaus(dtype, rows, columns);
      expect_representable(dtype, fill.input.values);
      expect_representable(dtype, fill.expected);
      EXPECT_EQ(softmax_oracle(fill.input.values, rows, columns).value, fill.expected);
      // The first row is one-hot, and the widest plateau is the largest power of two.
      EXPECT_EQ(std::count(fill.expected.begin(), fill.expected.begin() + columns, 1.0), 1);
      const double least =
          *std::min_element(fill.expected.begin(), fill.expected.end(),
                            [](double x, double y) { return (x == 0 ? 2 : x) < (y == 0 ? 2 : y); });
      EXPECT_EQ(least,
                1.0 / static_cast<double>(std::bit_floor(static_cast<std::uint64_t>(columns))));
    }
  }
}

TEST(Fills, special_values_cover_each_kind) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
    std::set<std::uint64_t> patterns;
    int nans = 0, infinities = 0, zeros = 0, subnormals = 0;
    const double min_normal = std::ldexp(1.0, float_format(dtype).min_exponent);
    for (const SpecialValue& special : special_values(dtype)) {
      const double value = decode(dtype, special.bits);
      patterns.insert(special.bits);
      nans += std::isnan(value);
      infinities += std::isinf(value);
      zeros += value == 0;
      subnormals += value != 0 && std::fabs(value) < min_normal;
      EXPECT_NE(special.bits, poison_bits(dtype));
      if (special.name == "-max") {
        EXPECT_EQ(value, -max_finite(dtype));
      }
      if (special.name == "+min_subnormal") {
        EXPECT_EQ(value, min_subnormal(dtype));
      }
      if (special.name == "+half_max") {
        EXPECT_EQ(value, max_finite(dtype) / 2);
      }
      if (special.name == "-3") {
        EXPECT_EQ(value, -3);
      }
    }
    EXPECT_EQ(patterns.size(), 26u);
    EXPECT_EQ(nans, 4);
    EXPECT_EQ(infinities, 2);
    EXPECT_EQ(zeros, 2);
    EXPECT_EQ(subnormals, 4);
    EXPECT_EQ(special_pairs(dtype).a.size(), 26u * 26u);
    EXPECT_EQ(special_pairs(dtype).b[27], special_values(dtype)[1].bits);
  }
}

TEST(Fills, unique_bits_are_unique) {
  const std::vector<std::uint64_t> wide = unique_bits(Dtype::f32, 200000);
  EXPECT_EQ(std::set(wide.begin(), wide.end()).size(), wide.size());
  const std::vector<std::uint64_t> narrow = unique_bits(Dtype::bf16, 3 * 65536);
  for (std::ptrdiff_t start = 0; start < 3 * 65536; start += 65536)
    EXPECT_EQ(std::set(narrow.begin() + start, narrow.begin() + start + 65536).size(), 65536u);
  EXPECT_NE(narrow[65536], narrow[0]);
  EXPECT_TRUE(std::any_of(wide.begin(), wide.end(),
                          [](std::uint64_t b) { return std::isnan(decode(Dtype::f32, b)); }));
}

TEST(Fills, all_bits_of_a_16_bit_type_are_each_there_once) {
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
    std::vector<std::uint64_t> bits = all_bits(dtype);
    std::sort(bits.begin(), bits.end());
    ASSERT_EQ(bits.size(), 65536u);
    for (std::uint64_t i = 0; i < 65536; ++i) ASSERT_EQ(bits[i], i);
  }
  EXPECT_THROW(all_bits(Dtype::f32), Error);
}

// What makes A I = A a probe: nearly no normal number survives a rounding to TF32.
TEST(Fills, identity_times_normals_exposes_tf32) {
  const std::vector<double> eye = identity(3);
  EXPECT_EQ(eye, (std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1}));
  const std::vector<double> a = normal(Dtype::f32, 10000, Tensor::a).values;
  const std::vector<double> rounded = tf32_rounded(a);
  std::int64_t unchanged = 0;
  for (std::size_t i = 0; i < a.size(); ++i) unchanged += a[i] == rounded[i] ? 1 : 0;
  EXPECT_LT(unchanged, 30);
}

} // namespace
} // namespace kg::test
