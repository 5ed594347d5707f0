// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "runtime/enumerators.h"

namespace kg::reduction {

enum class Op { sum, mean, max, min };
inline constexpr Op kOps[] = {Op::sum, Op::mean, Op::max, Op::min};

using kg::name;

} // namespace kg::reduction
