// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace kg::reduction {

enum class Op { sum, mean, max, min };
inline constexpr Op kOps[] = {Op::sum, Op::mean, Op::max, Op::min};

constexpr std::string_view name(Op op) {
  switch (op) {
  case Op::sum: return "sum";
  case Op::mean: return "mean";
  case Op::max: return "max";
  case Op::min: return "min";
  }
  return "";
}

} // namespace kg::reduction
