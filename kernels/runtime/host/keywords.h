// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA's keywords as plain C++. `__noinline__` is left out on purpose: the standard library spells
// attributes with it.
#pragma once

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __grid_constant__
#define __constant__
#define __managed__
// One copy per OS thread, and an OS thread runs one block at a time.
#define __shared__ static thread_local
