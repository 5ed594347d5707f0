// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/binary/launch.h"

#include "cuda/binary/modules.h"
#include "cuda/source/ptx_kernel.h"
#include "cuda/source/state.h"

namespace kg::emulate {

cudaError_t launch(const void* kernel, LaunchConfig config, void** arguments, cudaStream_t stream) {
  const ptx_run::LoadedKernel* loaded = nullptr;
  const cudaError_t found = foreign::call("a launch", [&] {
    try {
      loaded = &kernel_at(kernel);
    } catch (const Error& error) {
      throw foreign::Refusal(cudaErrorInvalidDeviceFunction, error.what());
    }
  });
  if (found != cudaSuccess) return found;
  host::note_inexact(loaded->inexact);
  return foreign::launch_loaded(*loaded, config, arguments, stream);
}

} // namespace kg::emulate
