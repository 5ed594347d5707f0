// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches kernels compiled from PTX, whose arguments are known only by their sizes.
#pragma once

#include "cuda/source/api_types.h"
#include "runtime/launch.h"
#include "runtime/ptx/library.h"
#include "runtime/ptx/module.h"

namespace kg::foreign {

// `arguments` holds one address per parameter. config.shared_bytes is the dynamic shared memory.
cudaError_t launch_loaded(const ptx_run::LoadedKernel& kernel, LaunchConfig config,
                          void** arguments, cudaStream_t stream);

} // namespace kg::foreign
