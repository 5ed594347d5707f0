// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Modules and libraries share one implementation, and so do their functions and kernels.
#pragma once

#include "cuda/binary/driver/call.h"
#include "cuda/binary/modules.h"
#include "runtime/host/virtual_device.h"

#include <map>
#include <string>
#include <vector>

namespace kg::emulate {

// What the deprecated execution control sets (driver/execution_control.cpp).
struct Prepared {
  unsigned block[3] = {1, 1, 1};
  unsigned shared = 0;
  std::vector<char> arguments{};
};

} // namespace kg::emulate

// The address of this struct is the address that launches the kernel (cuda/binary/launch.h).
struct CUfunc_st {
  CUmod_st* module = nullptr;
  std::string name;
  std::size_t dynamic_shared = kg::host::kSharedBytesDefault; // limit for a launch
  kg::emulate::Prepared prepared{};
};

struct CUmod_st {
  kg::emulate::Program* program = nullptr;
  std::map<std::string, CUfunc_st*> functions; // requested so far
};

namespace kg::emulate {

// Each of these throws Refusal with CUDA's code.
CUmod_st* load_module(const void* image);
void unload_module(CUmod_st* module);
CUmod_st& module_of(CUmod_st* handle);
CUfunc_st* function_in(CUmod_st* module, const std::string& name);
// CUDA accepts a library's kernel where it expects a module's function.
CUfunc_st& function_of(const void* handle);
Variable global_in(CUmod_st* module, const std::string& name);

} // namespace kg::emulate
