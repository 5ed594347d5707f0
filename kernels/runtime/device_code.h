// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The header that makes a kernel source CUDA C++ under nvcc and plain C++20 on the host backend:
// keywords, built-in variables, intrinsics, vector types, half and bfloat16. Cooperative groups
// have their own header (cooperative_groups.h).
// Two rules for kernels: launch through kg::launch (launch.h), and take dynamic shared memory from
// kg::dynamic_shared<T>() instead of `extern __shared__`.
#pragma once
#ifndef __CUDACC_RTC__ // NVRTC, which compiles at run time (jit.h), has no standard library
#include "runtime/backend.h"
#include "runtime/dtype.h"
#endif
#if KG_BACKEND_CUDA
#include "runtime/cuda/device_code.h"
#else
#include "runtime/host/device_code.h"
#endif

// KG_UNROLL fully unrolls the following loop, whose trip count is a compile-time constant, so that
// the arrays it indexes can stay in registers. KG_UNROLL_UNIFORM does the same for loops in which
// all lanes of a warp execute every iteration together. KG_ROLLED prevents unrolling: copies of the
// body would take registers, and for an unknown trip count nvcc divides the length by the step.
//
// g++ keeps loops rolled: its CPU code is as fast, and compiles in half the time, or in a tenth
// with checker calls. Only the counters need unrolled copies if some lanes skip iterations: they
// count all accesses of the lanes at one instruction as one access. g++ does not know nvcc's
// pragmas either, so the macros are empty in the host code that nvcc passes to it.
#if defined(__CUDACC__) && !defined(__CUDA_ARCH__) && !defined(__clang__)
#define KG_UNROLL
#define KG_UNROLL_UNIFORM
#define KG_ROLLED
#elif defined(__CUDACC__) || defined(__clang__)
#define KG_UNROLL _Pragma("unroll")
#define KG_UNROLL_UNIFORM KG_UNROLL
#define KG_ROLLED _Pragma("unroll 1")
#else
#define KG_ROLLED _Pragma("GCC unroll 1")
#define KG_UNROLL_UNIFORM KG_ROLLED
#if KG_CHECKED
#define KG_UNROLL _Pragma("GCC unroll 64")
#else
#define KG_UNROLL KG_ROLLED
#endif
#endif

namespace kg {

using f16 = __half;
using bf16 = __nv_bfloat16;
#ifndef __CUDACC_RTC__
// Dtype of an element type: dtype_of<float> == Dtype::f32.
template <class T>
inline constexpr Dtype dtype_of = Dtype::f32;
template <>
inline constexpr Dtype dtype_of<f16> = Dtype::f16;
template <>
inline constexpr Dtype dtype_of<bf16> = Dtype::bf16;
template <>
inline constexpr Dtype dtype_of<double> = Dtype::f64;
template <>
inline constexpr Dtype dtype_of<int> = Dtype::i32;
template <>
inline constexpr Dtype dtype_of<std::int8_t> = Dtype::i8;
template <>
inline constexpr Dtype dtype_of<std::uint32_t> = Dtype::u32;
template <>
inline constexpr Dtype dtype_of<std::int64_t> = Dtype::i64;
#endif
// f32 <-> T, rounding to nearest even: the only conversions that kernels with f32 arithmetic need.
__host__ __device__ __forceinline__ float to_float(float value) { return value; }
__host__ __device__ __forceinline__ float to_float(f16 value) { return __half2float(value); }
__host__ __device__ __forceinline__ float to_float(bf16 value) { return __bfloat162float(value); }

template <class T>
__host__ __device__ __forceinline__ T from_float(float value);
template <>
__host__ __device__ __forceinline__ float from_float<float>(float value) {
  return value;
}
template <>
__host__ __device__ __forceinline__ f16 from_float<f16>(float value) {
  return __float2half_rn(value);
}
template <>
__host__ __device__ __forceinline__ bf16 from_float<bf16>(float value) {
  return __float2bfloat16_rn(value);
}

} // namespace kg
