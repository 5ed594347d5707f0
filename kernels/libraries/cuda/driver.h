// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/not_supported.h"
#include "runtime/device.h"

#include <string>

namespace kg::vendor {

// cuBLAS and cuDNN bring a CUDA runtime of their own, which talks to the driver: throws
// NotSupported where the device is emulated and there is none.
inline void require_driver(const char* library) {
  if (device_properties().emulated)
    throw NotSupported(std::string(library) +
                       " is not compared with: it needs NVIDIA's driver, and the GPU is emulated");
}

} // namespace kg::vendor
