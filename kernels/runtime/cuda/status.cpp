// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/status.h"

#include <cstdio>

kg::Status describe(cudaError_t status) {
  if (status == cudaSuccess) return {true, "ok"};
  cudaGetLastError();
  return {false, std::string(cudaGetErrorName(status)) + ": " + cudaGetErrorString(status) +
                     " (error " + std::to_string(static_cast<int>(status)) + ")"};
}

namespace kg::cuda {
namespace {

// What the runtime answers once static destructors run after its own (unloading), or after the
// context is gone.
bool is_teardown(cudaError_t status) {
  return status == cudaErrorCudartUnloading || status == cudaErrorContextIsDestroyed ||
         status == cudaErrorDeviceUninitialized;
}

} // namespace

void check_release(cudaError_t status, const char* what) noexcept {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  if (is_teardown(status)) return;
  // Not describe(): it allocates, and an exception here would end the process.
  std::fprintf(stderr, "kernelgrade: %s failed while releasing: %s: %s (error %d)\n", what,
               cudaGetErrorName(status), cudaGetErrorString(status), static_cast<int>(status));
}

} // namespace kg::cuda
