// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The heap of device code that was made from PTX, which calls malloc and free. It is the CUDA
// runtime's memory (cuda/binary/heap.cpp), so the checkers watch it.
#pragma once

#include "runtime/ptx/integers.h"

namespace kg::ptx_run {

u64 heap_malloc(u64 bytes); // 0 where there is no memory
void heap_free(u64 address);

} // namespace kg::ptx_run
