// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Problems of sort: keys_n5, pairs_n50_segments7; of the whole array or of each segment; ascending
// or descending; by all bits or by the bits [begin, end): keys_n9_descending_end8. Keys of a given
// entropy per bit are drawn as in CUB's benchmarks: keys_n9_entropy0.544.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "ops/sort/sort.h"
#include "tests/contract/card.h"
#include "tests/contract/segments.h"
#include "tests/contract/shape_grammar.h"
#include "tests/oracle/numbers.h"

namespace kg::card::sort_problems {

// The fields of a shape.
struct Keys {
  bool pairs;
  std::int64_t n, segments; // 0: none
  bool descending;
  std::int64_t begin, end; // bits; end 0: the key's last one
  int words;               // the key is the AND of so many uniform words; 0: from a sample
};
inline ShapeGrammar<Keys> grammar() {
  return ShapeGrammar<Keys>()
      .one_of(&Keys::pairs, {{"keys", false}, {"pairs", true}})
      .number("n", &Keys::n)
      .number("segments", &Keys::segments, 0)
      .flag("descending", &Keys::descending)
      .number("begin", &Keys::begin, 0)
      .number("end", &Keys::end, 0)
      .one_of(&Keys::words, {{"", 0},
                             {"entropy1.000", 1},
                             {"entropy0.811", 2},
                             {"entropy0.544", 3},
                             {"entropy0.337", 4},
                             {"entropy0.201", 5}});
}
inline const Keys& keys_of(const Problem& problem) { return problem.parameters.as<Keys>(); }
inline bool has_pairs(const Problem& problem) { return keys_of(problem).pairs; }
inline bool is_segmented(const Problem& problem) { return keys_of(problem).segments > 0; }

inline std::int64_t bits_of(Dtype dtype) { return static_cast<std::int64_t>(8 * size_of(dtype)); }
inline bool has_all_bits(const Keys& keys) { return keys.begin == 0 && keys.end == 0; }
inline std::int64_t end_of(Dtype dtype, const Keys& keys) {
  return keys.end > 0 ? keys.end : bits_of(dtype);
}
inline sort::Order order_by(const Keys& keys) {
  return {keys.descending, static_cast<int>(keys.begin), static_cast<int>(keys.end)};
}

// Throws Error if keys lack these bits, or if these are all bits.
inline void require_bits(Dtype dtype, const Keys& keys, const Shape& shape) {
  const auto refuse = [&](const std::string& bit, std::int64_t value, const std::string& fix) {
    fail("shape '" + shape.text() + "' of " + std::string(name(dtype)) + ": " + bit + " is " +
         std::to_string(value) + "; " + fix);
  };
  const std::int64_t bits = bits_of(dtype), end = end_of(dtype, keys);
  if (keys.end >= bits)
    refuse("end", keys.end, "leave it out, or make it less than " + std::to_string(bits));
  if (keys.begin >= end) refuse("begin", keys.begin, "make it less than " + std::to_string(end));
}

// A function for each direction, and one with a range of bits.
inline Calling calling(Dtype dtype, const Keys& keys) {
  Calling result{keys.pairs ? "pairs" : "keys", {{"n", {keys.n}}}};
  if (keys.segments > 0) {
    result.words += "_segments";
    result.integers.push_back({"segments", {keys.segments}});
  }
  if (keys.descending) result.words += "_descending";
  if (has_all_bits(keys)) return result;
  result.words += "_bits";
  result.integers.push_back({"begin", {keys.begin}});
  result.integers.push_back({"end", {end_of(dtype, keys)}});
  return result;
}

// 64 pseudorandom bits: the finalizer of SplitMix64 (Steele, Lea, Flood: "Fast Splittable
// Pseudorandom Number Generators", 2014).
inline std::uint64_t uniform_word(std::uint64_t i) {
  std::uint64_t z = (i + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// The AND of so many uniform words, whose bits are each 1 with probability 2^-words. Timed results
// are compared as doubles, so the lowest bits of i64 are 0, and no float's exponent has all bits
// set.
inline std::uint64_t drawn_key(Dtype dtype, int words, std::int64_t i) {
  std::uint64_t key = ~std::uint64_t{0};
  for (int word = 0; word < words; ++word)
    key &= uniform_word(static_cast<std::uint64_t>(i) * 8 + static_cast<std::uint64_t>(word));
  key >>= 64 - bits_of(dtype);
  if (dtype == Dtype::i64) key &= ~std::uint64_t{0x7ff};
  if (!is_integer(dtype) && !std::isfinite(test::decode(dtype, key)))
    key ^= std::uint64_t{1} << (bits_of(dtype) - 2);
  return key;
}

inline Problem problem(Dtype dtype, const Shape& shape) {
  const Keys parameters = grammar().parse(shape);
  require_bits(dtype, parameters, shape);
  const bool pairs = parameters.pairs;
  const std::int64_t n = parameters.n, count = parameters.segments;
  const Work work = sort::work(n, size_of(dtype), pairs, count);
  Problem result{dtype, shape.text(), work, 0};
  result.parameters = parameters;
  result.inputs = {{"keys", dtype, {n}}};
  result.outputs = {{"sorted_keys", dtype, {n}}};
  if (parameters.words > 0) {
    result.inputs[0].element = [dtype, words = parameters.words](std::int64_t i) {
      return drawn_key(dtype, words, i);
    };
    result.inputs[0].period = kUsualPeriod;
  }
  if (pairs) {
    result.inputs.push_back({"values", Dtype::i32, {n}});
    result.inputs.back().element = [](std::int64_t i) { return static_cast<std::uint64_t>(i); };
    result.outputs.push_back({"sorted_values", Dtype::i32, {n}});
  }
  if (count > 0) result.inputs.push_back(offsets_of_segments(n, count));
  result.calling = calling(dtype, parameters);
  return result;
}

} // namespace kg::card::sort_problems
