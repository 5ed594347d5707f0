// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Modules and libraries, which are one thing here, and their functions and kernels, likewise.
#pragma once

#include "cuda/binary/driver/call.h"
#include "cuda/binary/modules.h"
#include "runtime/host/virtual_device.h"

#include <map>
#include <string>

struct CUfunc_st {
  CUmod_st* module = nullptr;
  std::string name;
  std::size_t dynamic_shared = kg::host::kSharedBytesDefault; // that a launch may have
};

// Known by the address by which it is launched (cuda/binary/launch.h).
struct CUmod_st {
  kg::emulate::Program* program = nullptr;
  std::map<std::string, CUfunc_st*> functions; // that were asked for
};

namespace kg::emulate {

// Each throws Refusal, with CUDA's code.
CUmod_st* load_module(const void* image);
void unload_module(CUmod_st* module);
CUmod_st& module_of(CUmod_st* handle);
CUfunc_st* function_in(CUmod_st* module, const std::string& name);
// CUDA lets a kernel of a library stand where a function of a module is expected.
CUfunc_st& function_of(const void* handle);
Variable global_in(CUmod_st* module, const std::string& name);

} // namespace kg::emulate
