// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Declares the device functions and variables that only nvcc declares, so that a host compiler can
// read the headers of kernels. None of them is defined: a host source that uses one, for example by
// launching such a kernel, fails to link.
#pragma once

#include <cuda_runtime.h>

#include <math.h> // fmaxf and similar without std::

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
