// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The two forms of softmax and of its gradient: a shape that begins with "log_" is log-softmax's.
#pragma once

#include <string_view>

#include "ops/softmax/kind.h"
#include "tests/contract/card.h"

namespace kg::card {

inline softmax::Kind kind_of(std::string_view shape) {
  return shape.starts_with("log_") ? softmax::Kind::log_softmax : softmax::Kind::softmax;
}
inline bool is_log(const Problem& problem) {
  return kind_of(problem.shape) == softmax::Kind::log_softmax;
}

} // namespace kg::card
