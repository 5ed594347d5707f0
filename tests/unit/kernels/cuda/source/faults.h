// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches of faults.cu that go wrong. None of them looks at an error code.
#pragma once

#include <cuda_runtime.h>

namespace faults {

extern const int trap_line, assert_line, launch_line; // in faults.cu

void launch_trap();
void launch_assert(int value); // fails where it is not 7
void launch_deadlock();
void launch_count(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream, int* count);

} // namespace faults
