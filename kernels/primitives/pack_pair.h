// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "primitives/pack.h"

#include <cstring>

namespace kg {

// Two neighbours as one register of matrix instructions, the first in the lower half. T: f16, bf16.
template <class T>
__device__ __forceinline__ unsigned pack_pair(float first, float second) {
  unsigned bits;
  const Pack<T, 2> pair{{from_float<T>(first), from_float<T>(second)}};
  memcpy(&bits, &pair, sizeof bits);
  return bits;
}

} // namespace kg
