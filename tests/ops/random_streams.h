// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The streams for cards of random numbers: a seed with two significant halves and, by shape, a
// subsequence of the same kind ("sub"; otherwise 0) and an offset ("o5", or "late" for the last
// possible words; otherwise 0).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "primitives/philox.h"
#include "tests/contract/call.h"
#include "tests/contract/shape_grammar.h"
#include "tests/oracle/random.h"

namespace kg::card {

struct Draws {
  std::int64_t n;
  RandomStream stream{.seed = 0x9D2C5680A3F1E647};
};

inline ShapeGrammar<Draws> draws_grammar() {
  constexpr std::uint64_t kLate = ~std::uint64_t{0} - 5;
  return ShapeGrammar<Draws>()
      .number("n", &Draws::n)
      .nested(ShapeGrammar<RandomStream>()
                  .one_of(&RandomStream::subsequence, {{"", 0}, {"sub", 0x0000000700000003}})
                  .part(
                      "[o<number>|late]",
                      [](const Shape& shape, RandomStream& stream) {
                        if (shape.has_number("o"))
                          stream.offset = static_cast<std::uint64_t>(shape.number("o"));
                        else if (shape.has("late"))
                          stream.offset = kLate;
                      },
                      [](RandomStream& stream) {
                        if (stream.offset == kLate) return std::string("late");
                        return stream.offset == 0 ? std::string()
                                                  : "o" + std::to_string(stream.offset);
                      }),
              &Draws::stream);
}

// Word `index` after the offset, from the tests' own Philox.
inline std::uint32_t word_of(const RandomStream& stream, std::int64_t index) {
  const std::uint64_t part = stream.offset % 4 + static_cast<std::uint64_t>(index);
  const std::uint64_t block = stream.offset / 4 + part / 4; // below 2^63
  const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  const test::PhiloxBlock words = test::philox(
      {low(block), low(block >> 32), low(stream.subsequence), low(stream.subsequence >> 32)},
      {low(stream.seed), low(stream.seed >> 32)});
  return words[part % 4];
}

// The stream as arguments of a candidate kernel.
inline std::vector<Integers> integers_of(const Draws& draws) {
  const auto& [n, stream] = draws;
  return {{"n", {n}},
          {"seed", {static_cast<std::int64_t>(stream.seed)}},
          {"subsequence", {static_cast<std::int64_t>(stream.subsequence)}},
          {"offset", {static_cast<std::int64_t>(stream.offset)}}};
}

} // namespace kg::card
