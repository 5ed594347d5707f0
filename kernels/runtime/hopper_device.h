// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests of kernels that compute capability 9.0 alone has: the host's virtual device is an 8.0.
#pragma once

#include "runtime/backend.h"

namespace kg {

// While it lives, device_properties() of its thread are those of compute capability 9.0, with its
// shared memory; multiprocessors and limits of grids stay as they are. On a GPU it does nothing.
class HopperDevice {
 public:
#if KG_BACKEND_CUDA
  HopperDevice() {}
  ~HopperDevice() {}
#else
  HopperDevice();
  ~HopperDevice();
#endif
  HopperDevice(const HopperDevice&) = delete;
  HopperDevice& operator=(const HopperDevice&) = delete;

 private:
  bool before_ = false;
};

} // namespace kg
