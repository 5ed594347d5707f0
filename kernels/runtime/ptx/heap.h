// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The device heap (malloc and free) for code translated from PTX. The memory comes from the CUDA
// runtime (cuda/binary/heap.cpp), so the checkers watch it.
#pragma once

#include "runtime/ptx/integers.h"

namespace kg::ptx_run {

u64 heap_malloc(u64 bytes); // 0 if out of memory
void heap_free(u64 address);

} // namespace kg::ptx_run
