// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The CUDA runtime's status codes in words.
#pragma once

#include "runtime/error.h"

#include <cuda_runtime_api.h>

// "cudaErrorMemoryAllocation: out of memory (error 2)". In the global namespace, where cudaError_t
// lives: argument-dependent lookup finds it from KG_CHECK in every namespace and template, whatever
// other overloads are in sight. A failure is also taken out of the thread's last-error slot, or the
// next caller of cudaGetLastError would blame itself for it.
kg::Status describe(cudaError_t status);

namespace kg::cuda {

// For destructors, which must not throw: prints a failed release of `what` to stderr, except where
// the process is ending and the driver has released everything already.
void check_release(cudaError_t status, const char* what) noexcept;

} // namespace kg::cuda
