// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The shapes of reduction: the reduced axis (shapes.h), preceded by the operation's name, except
// for sums.
#pragma once

#include <string>

#include "tests/ops/reduction/shapes.h"

namespace kg::card {

using reduction::Op;

struct Reduction {
  Op op;
  Reduced of;
};
inline ShapeGrammar<Reduction> reduction_grammar() {
  return ShapeGrammar<Reduction>()
      .one_of(&Reduction::op,
              {{"", Op::sum}, {"mean", Op::mean}, {"max", Op::max}, {"min", Op::min}})
      .nested(reduced_grammar(), &Reduction::of);
}
inline std::string shape_of(Op op, const Extents& extents) {
  return reduction_grammar().print({op, {Along::tensor, 0, 0, extents}});
}

inline Op op_of(const Problem& problem) { return problem.parameters.as<Reduction>().op; }
inline bool is_sum(Op op) { return op == Op::sum || op == Op::mean; }

} // namespace kg::card
