// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches of kernels by the address that the program knows, with arguments by theirs.
#pragma once

#include "cuda/source/api_types.h"
#include "runtime/launch.h"

namespace kg::emulate {

// As foreign's launches: returns CUDA's code and says on standard error what was wrong.
cudaError_t launch(const void* kernel, LaunchConfig config, void** arguments, cudaStream_t stream);

} // namespace kg::emulate
