// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The integer fills of fills.h.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "runtime/error.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/numbers.h"

namespace kg::test {

namespace {

// Random streams in addition to the elements' own: they select the nonzero k of a stratum.
constexpr std::uint64_t kMaskStream = 1 << 8;

// Bits of the wide operand: 13 for f32 (TF32 and f16 keep 11, bf16 8), the complete significand for
// the narrow types.
int wide_bits(Dtype dtype) {
  require(dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16,
          fmt::format("exact fills exist for f32, f16 and bf16, not {}", name(dtype)));
  return dtype == Dtype::f32 ? 13 : float_format(dtype).precision;
}

// An odd integer in (2^(bits-1), 2^bits) of either sign: exactly `bits` significant bits.
double odd_integer(const Random& random, std::uint64_t index, int bits) {
  const std::int64_t half = std::int64_t{1} << (bits - 2);
  return static_cast<double>(random.sign(index) *
                             (2 * random.integer(index, half, 2 * half - 1) + 1));
}

// A nonzero integer in [-max_abs, max_abs].
double nonzero_integer(const Random& random, std::uint64_t index, std::int64_t max_abs) {
  return static_cast<double>(random.sign(index) * random.integer(index, 1, max_abs));
}

// The positions of a line of `length` that may be nonzero; at most `budget` of them.
class Mask {
 public:
  Mask(std::uint64_t seed, std::int64_t length, std::int64_t budget)
      : random_(seed, kMaskStream), length_(length), budget_(std::min(budget, length)) {
    constexpr std::int64_t kTail = 32;
    require(budget >= 1 || length == 0,
            fmt::format("the exact limit leaves no nonzero term in a sum of {}: raise it", length));
    tail_ = budget_ == length_ ? length_ : std::clamp<std::int64_t>(budget_ / 2, 1, kTail);
  }

  bool operator()(std::int64_t line, std::int64_t position) const {
    const std::int64_t body = length_ - tail_;
    if (position >= body) return true;
    const std::int64_t strata = budget_ - tail_;
    if (strata == 0) return false;
    const std::int64_t stratum = ((position + 1) * strata - 1) / body;
    const std::int64_t first = stratum * body / strata;
    const std::int64_t last = (stratum + 1) * body / strata - 1;
    return position ==
           random_.integer(static_cast<std::uint64_t>(line * length_ + stratum), first, last);
  }

 private:
  Random random_;
  std::int64_t length_;
  std::int64_t budget_;
  std::int64_t tail_;
};

// Checks a fill's promise on the result: each line's sum of |values|, times the largest factor, is
// within `limit`.
void require_line_sums(const std::vector<double>& values, std::int64_t length, double factor,
                       double limit) {
  for (std::size_t start = 0; start < values.size(); start += static_cast<std::size_t>(length)) {
    double sum = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i)
      sum += std::fabs(values[start + i]);
    require(sum * factor <= limit,
            fmt::format("an exact fill sums to {}, beyond its limit {}", sum * factor, limit));
  }
}

std::int64_t largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::fabs(value));
  return static_cast<std::int64_t>(most);
}

std::string_view label(ProductRange range) {
  switch (range) {
  case ProductRange::r1: return "R1";
  case ProductRange::r1w_a: return "R1w-A";
  case ProductRange::r1w_b: return "R1w-B";
  }
  return "";
}

} // namespace

double exact_limit(Dtype output) { return output == Dtype::f16 ? max_finite(Dtype::f16) : 0x1p24; }

FillPair exact_product(Dtype input, Dtype output, ProductRange range, ProductShape shape,
                       double limit, std::uint64_t seed) {
  const int bits = wide_bits(input);
  const std::int64_t m = shape.m;
  const std::int64_t n = shape.n;
  const std::int64_t k = shape.k; // not a structured binding: clang 14 cannot capture it
  if (limit == 0) limit = exact_limit(output);
  require(limit > 0 && limit <= exact_limit(output),
          fmt::format("exact_product: limit {} is not in (0, {}]", limit, exact_limit(output)));
  const std::int64_t wide = (std::int64_t{1} << bits) - 1;
  // R1 after oneDNN's ranges for f32; the narrow types use all 8 bits that bf16 has.
  const std::int64_t r1_a = input == Dtype::f32 ? 64 : 255;
  const std::int64_t r1_b = input == Dtype::f32 ? 128 : 15;
  const std::int64_t max_a = range == ProductRange::r1      ? r1_a
                             : range == ProductRange::r1w_a ? wide
                                                            : 1;
  const std::int64_t max_b = range == ProductRange::r1      ? r1_b
                             : range == ProductRange::r1w_b ? wide
                                                            : 1;

  const Random random_a = random_of(seed, Tensor::a);
  const Random random_b = random_of(seed, Tensor::b);
  const auto draw_a = [&](std::uint64_t index) {
    return range == ProductRange::r1w_a ? odd_integer(random_a, index, bits)
                                        : nonzero_integer(random_a, index, max_a);
  };
  const auto draw_b = [&](std::uint64_t index) {
    return range == ProductRange::r1w_b ? odd_integer(random_b, index, bits)
                                        : nonzero_integer(random_b, index, max_b);
  };
  const auto budget = static_cast<std::int64_t>(limit / static_cast<double>(max_a * max_b));
  const Mask mask(seed, k, budget);

  FillPair fill{fmt::format("exact_{}", label(range)), "", {}, {}};
  fill.a.reserve(static_cast<std::size_t>(m * k));
  fill.b.reserve(static_cast<std::size_t>(k * n));
  // An operand of {-1, 0, 1} has zeros, except where the fill promises none. Zeros find kernels
  // that reuse a stale value, and reduce the chance that an even number of +-1 errors cancels.
  constexpr std::int64_t kDenseTail = 32;
  const auto vanishes = [&](const Random& random, std::uint64_t index, std::int64_t max_abs,
                            std::int64_t l, bool last_line) {
    return max_abs == 1 && l < k - kDenseTail && !last_line && random.chance(index, 1.0 / 3);
  };
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t l = 0; l < k; ++l) {
      const auto index = static_cast<std::uint64_t>(i * k + l);
      const bool nonzero = mask(i, l) && !vanishes(random_a, index, max_a, l, i == m - 1);
      fill.a.push_back(nonzero ? draw_a(index) : 0);
    }
  }
  for (std::int64_t l = 0; l < k; ++l) {
    for (std::int64_t j = 0; j < n; ++j) {
      const auto index = static_cast<std::uint64_t>(l * n + j);
      const bool nonzero = !vanishes(random_b, index, max_b, l, j == n - 1);
      fill.b.push_back(nonzero ? draw_b(index) : 0);
    }
  }
  if (k > 0) require_line_sums(fill.a, k, static_cast<double>(largest(fill.b)), limit);
  fill.description =
      fmt::format("{} integers, |a| <= {}, |b| <= {}, at most {} nonzeros of {} in a "
                  "row of A, sum|a||b| <= {}",
                  label(range), max_a, max_b, std::min(budget, k), k, limit);
  return fill;
}

Fill exact_sums(Dtype input, Dtype output, SumRange range, std::int64_t slices, std::int64_t length,
                std::uint64_t seed) {
  constexpr std::int64_t kLargestDense = 127;
  const int bits = wide_bits(input);
  const double limit = exact_limit(output);
  const std::int64_t max_abs =
      range == SumRange::wide
          ? (std::int64_t{1} << bits) - 1
          : std::clamp<std::int64_t>(
                static_cast<std::int64_t>(limit /
                                          static_cast<double>(std::max<std::int64_t>(length, 1))),
                1, kLargestDense);
  const Random random = random_of(seed, Tensor::a);
  const Mask mask(seed, length, static_cast<std::int64_t>(limit / static_cast<double>(max_abs)));
  Fill fill{range == SumRange::wide ? "exact_sums_wide" : "exact_sums_dense",
            fmt::format("{} slices of {} integers, |x| <= {}, sum|x| <= {}", slices, length,
                        max_abs, limit),
            {}};
  fill.values.reserve(static_cast<std::size_t>(slices * length));
  for (std::int64_t s = 0; s < slices; ++s) {
    for (std::int64_t i = 0; i < length; ++i) {
      const auto index = static_cast<std::uint64_t>(s * length + i);
      fill.values.push_back(!mask(s, i)               ? 0
                            : range == SumRange::wide ? odd_integer(random, index, bits)
                                                      : nonzero_integer(random, index, max_abs));
    }
  }
  if (length > 0) require_line_sums(fill.values, length, 1, limit);
  return fill;
}

Fill integers(Dtype dtype, std::int64_t count, std::int64_t max_abs, Tensor tensor,
              std::uint64_t seed) {
  // All integers up to 2^p are representable with p significant bits.
  require(
      max_abs >= 0 &&
          (dtype == Dtype::i32 ? max_abs < (std::int64_t{1} << 31)
                               : max_abs <= (std::int64_t{1} << float_format(dtype).precision)),
      fmt::format("integers: {} does not represent all integers up to {}", name(dtype), max_abs));
  const Random random = random_of(seed, tensor);
  Fill fill{"integers", fmt::format("integers, |x| <= {}", max_abs), {}};
  fill.values.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    fill.values.push_back(
        static_cast<double>(random.integer(static_cast<std::uint64_t>(i), -max_abs, max_abs)));
  return fill;
}

std::vector<double> identity(std::int64_t n) {
  std::vector<double> matrix(static_cast<std::size_t>(n * n), 0.0);
  for (std::int64_t i = 0; i < n; ++i) matrix[static_cast<std::size_t>(i * n + i)] = 1;
  return matrix;
}

FillPair exact_elementwise(Dtype dtype, elementwise::Op op, std::int64_t count,
                           std::uint64_t seed) {
  const int precision = float_format(dtype).precision;
  const Random random_a = random_of(seed, Tensor::a);
  const Random random_b = random_of(seed, Tensor::b);
  FillPair fill{"exact_elementwise", "", {}, {}};
  for (std::int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    double a;
    double b;
    if (op == elementwise::Op::add || op == elementwise::Op::sub) {
      // |a|, |b| < 2^(p-1): the sum has at most p bits.
      a = odd_integer(random_a, index, precision - 1);
      b = odd_integer(random_b, index, precision - 1);
    } else if (i % 2 == 0) {
      // Factors of half the bits: the product fills the significand.
      a = odd_integer(random_a, index, precision - precision / 2);
      b = odd_integer(random_b, index, precision / 2);
    } else {
      // All significand bits times a power of two: exposes inputs that are rounded.
      constexpr std::int64_t kScale = 3;
      a = odd_integer(random_a, index, precision);
      b = random_b.sign(index) *
          std::ldexp(1.0, static_cast<int>(random_b.integer(index, -kScale, kScale)));
    }
    fill.a.push_back(op == elementwise::Op::div ? a * b : a);
    fill.b.push_back(b);
  }
  fill.description =
      fmt::format("operands and results of up to {} significant bits, exact", precision);
  return fill;
}

} // namespace kg::test
