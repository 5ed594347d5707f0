// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The shapes of masked_softmax: rows under a boolean mask, or under causal masks, each of a
// sequence of `queries` rows.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tests/contract/rows.h"

namespace kg::card {

struct Masked {
  bool causal;
  Size size;
  std::int64_t queries; // 0 for a boolean mask
};

inline ShapeGrammar<Masked> masked_grammar() {
  return ShapeGrammar<Masked>()
      .one_of(&Masked::causal, {{"boolean", false}, {"causal", true}})
      .nested(rows_grammar(), &Masked::size)
      .number("queries", &Masked::queries, [](const Masked& m) -> std::int64_t { // as many as fit
        return m.causal ? std::max<std::int64_t>(std::min(m.size.rows, m.size.cols), 1) : 0;
      });
}

} // namespace kg::card
