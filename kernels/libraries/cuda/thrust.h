// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared by all Thrust and CUB wrappers. f16 and bf16 compute in f32 and round once.
#pragma once

#include "libraries/cuda/scratch.h"
#include "runtime/cuda/native.h"
#include "runtime/cuda/status.h"
#include "runtime/dtype.h"
#include "runtime/error.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cuda/functional>

#include <thrust/execution_policy.h>
#include <thrust/system/system_error.h>

#include <string>
#include <type_traits>

namespace kg::vendor::thrust_cuda {

__device__ inline float widen(float value) { return value; }
__device__ inline float widen(__half value) { return __half2float(value); }
__device__ inline float widen(__nv_bfloat16 value) { return __bfloat162float(value); }

template <class T>
__device__ T narrow(float value) {
  if constexpr (sizeof(T) == sizeof(float)) {
    return value;
  } else if constexpr (std::is_same_v<T, __half>) {
    return __float2half_rn(value);
  } else {
    return __float2bfloat16_rn(value);
  }
}

inline bool is_float(Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16;
}

// Calls `body` with an element of that type; is_float(dtype) must hold.
template <class Body>
void with_float(Dtype dtype, Body body) {
  if (dtype == Dtype::f16) return body(__half{});
  if (dtype == Dtype::bf16) return body(__nv_bfloat16{});
  body(0.0F);
}

// Enqueues on the stream, without waiting for it.
inline auto on(Stream& stream) { return thrust::cuda::par_nosync.on(cuda::native(stream)); }

// For thrust::transform, which runs cub::DeviceTransform: marks a function whose arguments may be
// copies of the elements. The GPU can then load the elements in bulk.
template <class Function>
auto of_copies(Function function) {
  return ::cuda::proclaim_copyable_arguments(function);
}

// Runs `body` and turns Thrust's exceptions into Error with the same message.
template <class Body>
void translate(const char* what, Body body, Location where = Location::here()) {
  try {
    body();
  } catch (const thrust::system_error& error) {
    fail(std::string("Thrust ") + what + ": " + error.what(), where);
  }
}

} // namespace kg::vendor::thrust_cuda

namespace kg::vendor::cub_device {

// CUB's two calls: without storage it returns the required size, with storage it runs.
template <class Call>
void with_storage(Stream& stream, Call call) {
  std::size_t bytes = 0;
  call(nullptr, bytes);
  call(scratch(bytes, stream), bytes);
}

} // namespace kg::vendor::cub_device
