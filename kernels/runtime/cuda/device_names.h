// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The names of device code that a compiler of the host must know to read the headers of kernels:
// those that nvcc alone declares. None of them is defined, so what calls one, as a kernel does that
// is launched from such a source, is not linked.
#pragma once

#include <cuda_runtime.h>

#include <math.h> // fmaxf and the like without std::

extern const uint3 threadIdx;
extern const uint3 blockIdx;
extern const dim3 blockDim;
extern const dim3 gridDim;

void __syncthreads();
[[noreturn]] void __trap();
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask);
unsigned __umulhi(unsigned a, unsigned b);
unsigned long long __umul64hi(unsigned long long a, unsigned long long b);
float __fdividef(float numerator, float denominator);
unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift);
template <class T>
void __stcs(T* to, T value);
template <class T>
void __stwb(T* to, T value);
