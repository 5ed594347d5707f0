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

// Statuses of calls from static destructors that run after the runtime's own (unloading), or after
// the context has been destroyed.
bool is_teardown(cudaError_t status) {
  return status == cudaErrorCudartUnloading || status == cudaErrorContextIsDestroyed ||
         status == cudaErrorDeviceUninitialized;
}

} // namespace

void check_release(cudaError_t status, const char* what) noexcept {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  if (is_teardown(status)) return;
  // Not describe(), because it allocates, and an exception here would terminate the process.
  std::fprintf(stderr, "kernelgrade: %s failed while releasing: %s: %s (error %d)\n", what,
               cudaGetErrorName(status), cudaGetErrorString(status), static_cast<int>(status));
}

} // namespace kg::cuda
