// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/release_device.h"

#if KG_BACKEND_CUDA
#include "runtime/cuda/status.h"
#endif

namespace kg::perf {

void release_device() {
#if KG_BACKEND_CUDA
  KG_CHECK(cudaDeviceReset());
#endif
}

} // namespace kg::perf
