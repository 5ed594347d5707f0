// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// <math.h> without C++20's lerp in the global namespace: CUDA sources define their own.
#pragma once
#pragma GCC system_header // include_next is not standard C++

#ifdef __cplusplus
#include <cmath>
namespace std {
inline constexpr int kg_no_lerp = 0;
}
#define lerp kg_no_lerp
#include_next <math.h>
#undef lerp
#else
#include_next <math.h>
#endif
