// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Text for the CUDA runtime's status codes.
#pragma once

#include "runtime/error.h"

#include <cuda_runtime_api.h>

// "cudaErrorMemoryAllocation: out of memory (error 2)". In the global namespace, like cudaError_t:
// KG_CHECK finds it by argument-dependent lookup from every namespace and template, whatever other
// overloads are visible. Also clears the thread's last error, which would otherwise be attributed
// to the next caller of cudaGetLastError.
kg::Status describe(cudaError_t status);

namespace kg::cuda {

// For destructors, which must not throw: prints a failure to release `what` to stderr, except at
// process exit, when the driver has already released everything.
void check_release(cudaError_t status, const char* what) noexcept;

} // namespace kg::cuda
