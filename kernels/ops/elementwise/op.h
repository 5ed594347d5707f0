// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "runtime/enumerators.h"

namespace kg::elementwise {

enum class Op { add, sub, mul, div };
inline constexpr Op kOps[] = {Op::add, Op::sub, Op::mul, Op::div};

using kg::name;

} // namespace kg::elementwise
