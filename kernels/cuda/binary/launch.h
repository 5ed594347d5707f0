// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches kernels by the address that the program knows, with arguments passed by address.
#pragma once

#include "cuda/source/api_types.h"
#include "runtime/launch.h"

namespace kg::emulate {

// Like foreign's launches: returns CUDA's code and explains errors on standard error.
cudaError_t launch(const void* kernel, LaunchConfig config, void** arguments, cudaStream_t stream);

} // namespace kg::emulate
