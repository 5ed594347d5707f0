// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Keys that are hard to order: few, equal, special.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/numbers.h"

namespace kg::card::sort_problems {

inline std::vector<std::string> shapes(const std::vector<std::int64_t>& lengths,
                                       std::int64_t segments = 0) {
  std::vector<std::string> each;
  for (const std::int64_t n : lengths)
    each.push_back("n" + std::to_string(n) +
                   (segments > 0 ? "_segments" + std::to_string(segments) : ""));
  return in_each_form({"keys", "pairs"}, each);
}

// Also descending, and by bits in two passes, the second of five bits.
inline std::vector<std::string> in_each_order(const std::vector<std::string>& shapes) {
  std::vector<std::string> result;
  for (const std::string& shape : shapes)
    for (const char* const order : {"", "_descending", "_begin2_end15", "_descending_begin2_end15"})
      result.push_back(shape + order);
  return result;
}

// Sorted, reversed, all equal, and few distinct keys: equal keys keep their order.
inline std::vector<Sample> exact_samples(Dtype dtype) {
  constexpr std::int64_t kCount = 2777;
  std::vector<double> rising(kCount), alike(kCount, 3), few(kCount);
  for (std::int64_t i = 0; i < kCount; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const int below = dtype == Dtype::u32 ? 0 : 1;
    rising[at] = static_cast<double>(i / 12 - 100 * below);
    few[at] = static_cast<double>(i * 7919 % 5 - 2 * below);
  }
  const std::vector<double> falling(rising.rbegin(), rising.rend());
  std::vector<Sample> samples;
  for (const std::vector<double>& keys : {rising, falling, alike, few})
    for (const std::string& shape : in_each_order(shapes({kCount}))) {
      samples.push_back({"keys", shape, {{"keys", values(dtype, keys)}}});
      samples.back().may_be_vacuous = true;
    }
  return samples;
}

// NaN, infinities and zeros; for integers the ends of the signed and unsigned ranges, 0, and
// numbers that differ in a single bit of each digit.
inline std::vector<std::uint64_t> special_keys(Dtype dtype) {
  std::vector<std::uint64_t> keys;
  if (!is_integer(dtype)) {
    for (const test::SpecialValue& special : test::special_values(dtype))
      keys.push_back(special.bits);
    return keys;
  }
  const std::uint64_t all = test::poison_bits(dtype), sign = all - all / 2;
  keys = {all, 0, 1, sign, sign - 1, sign + 1, all - 1};
  for (std::size_t byte = 0; byte < size_of(dtype); ++byte)
    for (const std::uint64_t digit : {0x5A, 0x5B, 0xDA, 0x80, 0x7F, 0xFF})
      keys.push_back(digit << (8 * byte));
  return keys;
}

// Each three times, cyclically.
inline std::vector<Sample> special_samples(Dtype dtype) {
  const std::vector<std::uint64_t> once = special_keys(dtype);
  std::vector<std::uint64_t> keys;
  for (int turn = 0; turn < 3; ++turn) keys.insert(keys.end(), once.begin(), once.end());
  std::vector<Sample> samples;
  for (const std::string& shape : in_each_order(shapes({std::ssize(keys)}))) {
    samples.push_back({"special", shape, {{"keys", bits(dtype, keys)}}});
    samples.back().may_be_vacuous = true;
  }
  return samples;
}

} // namespace kg::card::sort_problems
