// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Device code under nvcc: the toolkit's own headers, plus the accessor of dynamic shared memory.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#ifndef __CUDACC_RTC__
#include "runtime/cuda/status.h"

#include <cuda_runtime.h>

#ifdef __CUDACC__
#include <cuda_pipeline.h>
#endif
#endif

namespace kg {

#ifdef __CUDACC__
// The block's dynamic shared memory, offset by `byte_offset`, as an array of T. Aligned to 128
// bytes.
template <class T>
__device__ inline T* dynamic_shared(size_t byte_offset = 0) {
  extern __shared__ __align__(128) unsigned char dynamic_shared_bytes[];
  return reinterpret_cast<T*>(dynamic_shared_bytes + byte_offset);
}
#endif

#if defined(__CUDACC__) && !defined(__CUDACC_RTC__)
// The address of a __device__ or __constant__ variable, for copies to and from it; for an array,
// the address of its first element.
template <class T>
T* symbol_address(T& symbol) {
  void* address = nullptr;
  KG_CHECK(cudaGetSymbolAddress(&address, symbol));
  return static_cast<T*>(address);
}
template <class T, std::size_t N>
T* symbol_address(T (&symbol)[N]) {
  void* address = nullptr;
  KG_CHECK(cudaGetSymbolAddress(&address, symbol));
  return static_cast<T*>(address);
}
#endif

} // namespace kg
