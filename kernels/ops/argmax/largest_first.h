// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The functor that lets the reduction kernels find an index. An element and its index form one
// 64-bit key, ordered as argmax orders elements, and the largest key wins. Ties then need no
// special case, and any order of combining gives the same index. A pair of number and index would
// need both in every shuffle and a comparison with three branches.
#pragma once

#include "runtime/device_code.h"

#include <cstdint>

namespace kg::argmax {

// The upper half of a key orders the numbers; the lower half is larger for smaller indices.
struct LargestFirst {
  using Accumulator = unsigned long long;

  LargestFirst partial() const { return {}; }

  __device__ static Accumulator identity() { return 0; }
  __device__ static Accumulator combine(Accumulator a, Accumulator b) { return b > a ? b : a; }

  // Maps float bits to unsigned integers of the same order; the sum turns -0 into +0.
  template <class T>
  __device__ __forceinline__ Accumulator from(T element, std::int64_t index) const {
    const float number = to_float(element) + 0.0f;
    const unsigned bits = __float_as_uint(number);
    const unsigned order = number != number   ? 0xffffffffu
                           : bits >> 31 != 0u ? ~bits
                                              : bits | 0x80000000u;
    return Accumulator{order} << 32 | ~static_cast<unsigned>(index);
  }
  __device__ Accumulator from(Accumulator key, std::int64_t) const { return key; }

  template <class Out>
  __device__ Out finish(Accumulator key) const {
    if constexpr (sizeof(Out) == sizeof(Accumulator))
      return key;
    else
      return static_cast<Out>(~static_cast<unsigned>(key));
  }
};

} // namespace kg::argmax
