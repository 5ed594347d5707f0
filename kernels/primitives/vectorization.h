// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The variants of most operations that pass over their data once: the plainest kernel that is
// right, and the one by accesses of 16 bytes. What they are there, the operation's header says.
#pragma once

#include "runtime/enumerators.h"

namespace kg::vectorization {

enum class Variant { automatic, naive, vectorized };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::vectorized};

// What runs where `variant` is asked for.
constexpr Variant resolved(Variant variant) {
  return variant == Variant::automatic ? Variant::vectorized : variant;
}

using kg::name;

} // namespace kg::vectorization
