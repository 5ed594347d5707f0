// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The random, special and bit-pattern fills of fills.h; the exact integers are in exact_fills.cpp.
#include "tests/oracle/fills.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "runtime/error.h"
#include "tests/oracle/numbers.h"

namespace kg::test {

namespace {

// `draw(index)` for each element, rounded to the dtype and kept finite.
template <typename Draw>
std::vector<double> rounded(Dtype dtype, std::int64_t count, Draw draw) {
  const double most = max_finite(dtype);
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(std::clamp(round_to(dtype, draw(static_cast<std::uint64_t>(i))), -most, most));
  return values;
}

} // namespace

Random random_of(std::uint64_t seed, Tensor tensor) {
  return Random(seed, static_cast<std::uint64_t>(tensor));
}

Fill normal(Dtype dtype, std::int64_t count, Tensor tensor, std::uint64_t seed) {
  const Random random = random_of(seed, tensor);
  return {"normal", fmt::format("standard normal, rounded to {}", name(dtype)),
          rounded(dtype, count, [&](std::uint64_t i) { return random.normal(i); })};
}

Fill random_numbers(Dtype dtype, std::int64_t count, Tensor tensor, std::uint64_t seed) {
  if (!is_integer(dtype)) return normal(dtype, count, tensor, seed);
  const Random random = random_of(seed, tensor);
  // Only `drawn` bits are random, shifted by varying amounts; the remaining bits are 0 or the sign.
  const int width = static_cast<int>(8 * size_of(dtype)), drawn = std::min(width, 53);
  const std::int64_t count_of_all = std::int64_t{1} << drawn;
  const std::int64_t least = dtype == Dtype::u32 ? 0 : -count_of_all / 2;
  Fill fill{"random_numbers", fmt::format("uniform over all of {}", name(dtype)), {}};
  for (std::int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<double>(
        random.integer(static_cast<std::uint64_t>(i), least, least + count_of_all - 1));
    fill.values.push_back(std::ldexp(value, static_cast<int>(i % (width - drawn + 1))));
  }
  return fill;
}

Fill positive(Dtype dtype, std::int64_t count, Tensor tensor, std::uint64_t seed) {
  const Random random = random_of(seed, tensor);
  return {"positive", fmt::format("uniform on (0, 1], rounded to {}", name(dtype)),
          rounded(dtype, count, [&](std::uint64_t i) { return random.positive(i); })};
}

Fill outliers(Dtype dtype, std::int64_t count, std::int64_t every, double factor, Tensor tensor,
              std::uint64_t seed) {
  require(every >= 1 && factor >= 1,
          fmt::format("outliers: every = {}, factor = {}: both must be >= 1", every, factor));
  const Random random = random_of(seed, tensor);
  const double scale = std::exp2(std::ilogb(factor));
  const auto period = static_cast<std::uint64_t>(every);
  return {"outliers", fmt::format("standard normal, one in {} times {}", every, scale),
          rounded(dtype, count, [&](std::uint64_t i) {
            return random.normal(i) * (i % period == period / 2 ? scale : 1);
          })};
}

SoftmaxFill softmax_plateaus(Dtype dtype, std::int64_t rows, std::int64_t columns,
                             std::uint64_t seed) {
  constexpr double kDrop = 8192;
  // Exact in all formats. +-88 and -104 straddle the range of exp in f32, 96 that of exp2 forms.
  constexpr std::array kLevels = {0.0, 88.0, -104.0, 96.0, -3.0, 1024.0};
  const Random random = random_of(seed, Tensor::a);
  SoftmaxFill fill{{"softmax_plateaus",
                    fmt::format("rows with 2^j equal largest elements, all others at least 4096 "
                                "below: 2^-j and 0 exactly ({})",
                                name(dtype)),
                    {}},
                   {}};
  std::int64_t largest_power = 0;
  while ((std::int64_t{2} << largest_power) <= columns) ++largest_power;
  for (std::int64_t row = 0; columns > 0 && row < rows; ++row) {
    const std::int64_t power = row % (largest_power + 1);
    const std::int64_t count = std::int64_t{1} << power;
    const double level =
        kLevels[static_cast<std::size_t>(row / (largest_power + 1)) % kLevels.size()];
    std::vector<bool> on_plateau(static_cast<std::size_t>(columns), false);
    const std::int64_t start = random.integer(static_cast<std::uint64_t>(row), 0, columns - 1);
    for (std::int64_t t = 0; t < count; ++t)
      on_plateau[static_cast<std::size_t>((start + t * columns / count) % columns)] = true;
    for (const bool on : on_plateau) {
      fill.input.values.push_back(on ? level : round_to(dtype, level - kDrop));
      fill.expected.push_back(on ? 1.0 / static_cast<double>(count) : 0.0);
    }
  }
  return fill;
}

std::vector<SpecialValue> special_values(Dtype dtype) {
  const FloatFormat format = float_format(dtype);
  const int fraction_bits = format.precision - 1;
  const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(dtype) - 1);
  const std::uint64_t infinity = sign - (std::uint64_t{1} << fraction_bits);
  const std::uint64_t quiet = std::uint64_t{1} << (fraction_bits - 1);
  const std::uint64_t min_normal = std::uint64_t{1} << fraction_bits;
  const std::uint64_t one = encode(dtype, 1);
  const std::vector<SpecialValue> magnitudes = {
      {"0", 0},
      {"min_subnormal", 1},
      {"max_subnormal", min_normal - 1},
      {"min_normal", min_normal},
      {"below_1", one - 1},
      {"1", one},
      {"above_1", one + 1},
      {"3", encode(dtype, 3)},
      {"half_max", infinity - min_normal - 1},
      {"max", infinity - 1},
      {"inf", infinity},
      {"nan", infinity | quiet},
      {"nan_payload", infinity | quiet | 0x2A},
  };
  std::vector<SpecialValue> values;
  for (const SpecialValue& value : magnitudes) {
    values.push_back({"+" + value.name, value.bits});
    values.push_back({"-" + value.name, sign | value.bits});
  }
  return values;
}

BitPairs special_pairs(Dtype dtype) {
  const std::vector<SpecialValue> values = special_values(dtype);
  BitPairs pairs;
  for (const SpecialValue& a : values) {
    for (const SpecialValue& b : values) {
      pairs.a.push_back(a.bits);
      pairs.b.push_back(b.bits);
    }
  }
  return pairs;
}

std::vector<std::uint64_t> all_bits(Dtype dtype) {
  require(size_of(dtype) == 2,
          fmt::format("all_bits: {} has more patterns than a test can hold: give f16 or bf16",
                      name(dtype)));
  constexpr std::int64_t kPatterns = 1 << 16;
  return unique_bits(dtype, kPatterns);
}

std::vector<std::uint64_t> unique_bits(Dtype dtype, std::int64_t count) {
  // An odd multiplier (the golden ratio) makes index -> bits a bijection modulo 2^width that
  // spreads adjacent indices over all exponents. 16-bit types repeat after 65536; mixing in the
  // period's number makes most later copies differ at the same position.
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
  const int width = static_cast<int>(8 * size_of(dtype));
  const std::uint64_t all = poison_bits(dtype);
  std::vector<std::uint64_t> bits;
  bits.reserve(static_cast<std::size_t>(count));
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count); ++i) {
    const std::uint64_t period = width == 64 ? 0 : i >> width;
    bits.push_back(((i * kOdd) ^ (period * 0x5555)) & all);
  }
  return bits;
}

} // namespace kg::test
