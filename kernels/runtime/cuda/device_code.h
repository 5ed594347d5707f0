// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Device code under nvcc: the toolkit's own headers, plus the accessor of dynamic shared memory.
#pragma once

#include <cooperative_groups.h>
#include <cstddef>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace kg {

#ifdef __CUDACC__
// The block's dynamic shared memory, offset by `byte_offset`, as an array of T. Aligned to 128
// bytes.
template <class T>
__device__ inline T* dynamic_shared(std::size_t byte_offset = 0) {
  extern __shared__ __align__(128) unsigned char dynamic_shared_bytes[];
  return reinterpret_cast<T*>(dynamic_shared_bytes + byte_offset);
}
#endif

} // namespace kg
