// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace kg::scan {

enum class Op { sum, max };
inline constexpr Op kOps[] = {Op::sum, Op::max};

constexpr std::string_view name(Op op) { return op == Op::sum ? "sum" : "max"; }

// Whether element i of the result includes element i of the input.
enum class Kind { inclusive, exclusive };

} // namespace kg::scan
