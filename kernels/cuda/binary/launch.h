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

// The number of clusters of this configuration that the device holds at once, as many as their
// blocks find room. The kernel's own __cluster_dims__ apply without a cluster in `config`.
cudaError_t active_clusters(int* clusters, const void* kernel, LaunchConfig config);

} // namespace kg::emulate
