// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "primitives/pack.h"

#include <cstring>

namespace kg {

// Packs two neighbours into one 32-bit register for mma, the first in the lower half. T: f16, bf16.
template <class T>
__device__ __forceinline__ unsigned pack_pair(float first, float second) {
  unsigned bits;
  const Pack<T, 2> pair{{from_float<T>(first), from_float<T>(second)}};
  memcpy(&bits, &pair, sizeof bits);
  return bits;
}

} // namespace kg
