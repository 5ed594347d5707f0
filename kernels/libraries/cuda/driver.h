// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/not_supported.h"
#include "runtime/device.h"

#include <string>

namespace kg::vendor {

// cuBLAS and cuDNN contain their own CUDA runtime, which calls the driver. Throws NotSupported if
// the device is emulated, because then there is no driver.
inline void require_driver(const char* library) {
  if (device_properties().emulated)
    throw NotSupported(std::string(library) +
                       " is not compared with: it needs NVIDIA's driver, and the GPU is emulated");
}

} // namespace kg::vendor
