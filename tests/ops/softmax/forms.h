// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The two forms of softmax and of its gradient: shapes that begin with "log_" are log-softmax's.
#pragma once

#include <cstdint>

#include "ops/softmax/kind.h"
#include "tests/contract/card.h"
#include "tests/contract/shape_grammar.h"

namespace kg::card {

struct SoftmaxRows {
  softmax::Kind kind;
  std::int64_t rows, cols;
};
inline ShapeGrammar<SoftmaxRows> softmax_grammar() {
  using softmax::Kind;
  return ShapeGrammar<SoftmaxRows>()
      .one_of(&SoftmaxRows::kind, {{"", Kind::softmax}, {"log", Kind::log_softmax}})
      .number("rows", &SoftmaxRows::rows)
      .number("cols", &SoftmaxRows::cols);
}
inline softmax::Kind softmax_kind(const Problem& problem) {
  return problem.parameters.as<SoftmaxRows>().kind;
}
inline bool is_log(const Problem& problem) {
  return softmax_kind(problem) == softmax::Kind::log_softmax;
}

} // namespace kg::card
