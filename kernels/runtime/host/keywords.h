// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA's keywords as plain C++. `__noinline__` is deliberately missing: the standard library uses
// that spelling in attributes.
#pragma once

#include "runtime/host/forceinline.h"

namespace kg::host {
struct alignas(16) SharedGuard {
  unsigned char bytes[256];
};
} // namespace kg::host

#define __global__
#define __device__
#define __host__
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __grid_constant__
#define __constant__
#define __managed__
// One copy per OS thread, because an OS thread runs one block at a time.
#if KG_CHECKED
// A guard in front of each variable: no access may touch it, so an overrun of the preceding
// variable is detected.
#define KG_GUARD_NAME(number) KG_GUARD_NAMED(number)
#define KG_GUARD_NAMED(number) kg_shared_guard_##number
#define __shared__                                                                                 \
  static thread_local ::kg::host::SharedGuard KG_GUARD_NAME(__COUNTER__) __attribute__((used));    \
  static thread_local
#else
#define __shared__ static thread_local
#endif
