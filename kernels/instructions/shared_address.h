// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/device_code.h"

#if KG_BACKEND_CUDA
namespace kg::ptx {

// A shared-memory address in the form that instructions take: 32 bits, within the block's window.
__device__ inline unsigned shared_address(const void* address) {
  return static_cast<unsigned>(__cvta_generic_to_shared(address));
}

} // namespace kg::ptx
#endif
