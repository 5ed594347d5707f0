// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The variants of most single-pass operations: the simplest correct kernel, and one with 16-byte
// accesses. The operation's header describes both.
#pragma once

#include "runtime/enumerators.h"

namespace kg::vectorization {

enum class Variant { automatic, naive, vectorized };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::vectorized};

// The variant that runs for `variant`.
constexpr Variant resolved(Variant variant) {
  return variant == Variant::automatic ? Variant::vectorized : variant;
}

using kg::name;

} // namespace kg::vectorization
