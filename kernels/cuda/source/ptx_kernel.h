// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches of kernels in PTX, whose arguments are known by their sizes alone.
#pragma once

#include "cuda/source/api_types.h"
#include "runtime/launch.h"
#include "runtime/ptx/library.h"
#include "runtime/ptx/module.h"

namespace kg::foreign {

// `arguments`: an address for each parameter. config's shared memory is the dynamic one.
cudaError_t launch_loaded(const ptx_run::LoadedKernel& kernel, LaunchConfig config,
                          void** arguments, cudaStream_t stream);

} // namespace kg::foreign
