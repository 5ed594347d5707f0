// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/ptx/heap.h"

#include "cuda/source/heap.h"

namespace kg::ptx_run {

u64 heap_malloc(u64 bytes) { return reinterpret_cast<u64>(foreign::heap_malloc(bytes)); }
void heap_free(u64 address) { foreign::heap_free(reinterpret_cast<void*>(address)); }

} // namespace kg::ptx_run
