// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests of kernels that need compute capability 9.0: the host's virtual device reports 8.0.
#pragma once

#include "runtime/backend.h"

namespace kg {

// During its lifetime, device_properties() of its thread report compute capability 9.0 with its
// shared memory; SM count and grid limits do not change. On a GPU it does nothing.
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
