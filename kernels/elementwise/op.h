// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace kg::elementwise {

enum class Op { add, sub, mul, div };
inline constexpr Op kOps[] = {Op::add, Op::sub, Op::mul, Op::div};

constexpr std::string_view name(Op op) {
  switch (op) {
  case Op::add: return "add";
  case Op::sub: return "sub";
  case Op::mul: return "mul";
  case Op::div: return "div";
  }
  return "";
}

} // namespace kg::elementwise
