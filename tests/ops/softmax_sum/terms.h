// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared by the cards of softmax_sum and its gradient.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"
#include "tests/oracle/fills.h"

namespace kg::card {

struct Terms {
  std::int64_t terms, n;
};
inline ShapeGrammar<Terms> terms_grammar() {
  return ShapeGrammar<Terms>().number("k", &Terms::terms).number("n", &Terms::n);
}
inline std::string terms_of(std::int64_t terms, std::int64_t n) {
  return terms_grammar().print({terms, n});
}

// The tile of a thread block of the vectorized kernel, in elements.
inline std::int64_t tile_of_terms(Dtype dtype) {
  return 256 * 16 / static_cast<std::int64_t>(size_of(dtype));
}

// Every bit pattern of a 16-bit type, and as many of f32, spread over all kinds.
inline std::vector<std::uint64_t> patterns(Dtype dtype) {
  return size_of(dtype) == 2 ? test::all_bits(dtype) : test::unique_bits(dtype, 1 << 16);
}

} // namespace kg::card
