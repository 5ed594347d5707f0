// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The attributes of module functions and library kernels.
#include "cuda/binary/driver/modules.h"
#include "cuda/binary/layouts.h"
#include "runtime/device.h"
#include "runtime/host/virtual_device.h"

namespace kg::emulate {
namespace {

const ptx_run::LoadedKernel& compiled(const void* handle) {
  CUfunc_st& function = function_of(handle);
  try {
    return kernel_at(&function);
  } catch (const Error& error) {
    refuse(CUDA_ERROR_NO_BINARY_FOR_GPU, error.what());
  }
}

// The register count depends on machine code, which does not exist here. Programs divide by it to
// see how many blocks fit: with this number, blocks of all sizes fit.
constexpr int kRegisters = 32;

int attribute(CUfunction_attribute attribute, const void* handle) {
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return host::kMaxThreadsPerBlock;
  case CU_FUNC_ATTRIBUTE_NUM_REGS: return kRegisters;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    return static_cast<int>(compiled(handle).static_shared_bytes);
  case CU_FUNC_ATTRIBUTE_PTX_VERSION: return ptx_version_at(&function_of(handle));
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION: return compute_capability();
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    return static_cast<int>(function_of(handle).dynamic_shared);
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return -1;
  default: break;
  }
  demand(attribute >= 0 && attribute < CU_FUNC_ATTRIBUTE_MAX, CUDA_ERROR_INVALID_VALUE,
         "attribute " + std::to_string(attribute));
  return 0;
}

void set(CUfunction_attribute attribute, int value, CUfunc_st& function) {
  demand(attribute >= 0 && attribute < CU_FUNC_ATTRIBUTE_MAX, CUDA_ERROR_INVALID_VALUE,
         "attribute " + std::to_string(attribute));
  const cudaError_t error =
      foreign::set_function_attribute(static_cast<cudaFuncAttribute>(attribute), value);
  foreign::demand(error == cudaSuccess, error, "the attribute is refused");
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    function.dynamic_shared = static_cast<std::size_t>(value);
}

// Programs count the parameters up to the first that is missing, so that is no refusal to report.
CUresult parameter(const void* handle, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  bool found = false;
  const CUresult error = after_init("cuFuncGetParamInfo", [&] {
    const ptx_run::LoadedKernel& kernel = compiled(handle);
    demand_pointer(offset, "paramOffset");
    found = index < kernel.parameters.size();
    if (!found) return;
    *offset = kernel.offsets[index];
    if (bytes) *bytes = kernel.parameters[index];
  });
  return error || found ? error : CUDA_ERROR_INVALID_VALUE;
}

} // namespace
} // namespace kg::emulate

using namespace kg::emulate;

// --- Functions

KG_DRIVER cuFuncGetAttribute(int* value, CUfunction_attribute which, CUfunction function) {
  return driver("cuFuncGetAttribute", [&] {
    demand_pointer(value, "pi");
    function_of(function);
    *value = attribute(which, function);
  });
}
KG_DRIVER cuFuncSetAttribute(CUfunction function, CUfunction_attribute which, int value) {
  return driver("cuFuncSetAttribute", [&] { set(which, value, function_of(function)); });
}
KG_DRIVER cuFuncSetCacheConfig(CUfunction function, CUfunc_cache) {
  return driver("cuFuncSetCacheConfig", [&] { function_of(function); });
}
KG_DRIVER cuFuncGetModule(CUmodule* module, CUfunction function) {
  return driver("cuFuncGetModule", [&] {
    demand_pointer(module, "hmod");
    *module = function_of(function).module;
  });
}
KG_DRIVER cuFuncGetName(const char** name, CUfunction function) {
  return driver("cuFuncGetName", [&] {
    demand_pointer(name, "name");
    *name = function_of(function).name.c_str();
  });
}
KG_DRIVER cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset,
                             std::size_t* bytes) {
  return in_context() ? in_context() : parameter(function, index, offset, bytes);
}
KG_DRIVER cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  return driver("cuFuncIsLoaded", [&] {
    demand_pointer(state, "state");
    function_of(function);
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
  });
}
KG_DRIVER cuFuncLoad(CUfunction function) {
  return driver("cuFuncLoad", [&] { function_of(function); });
}

// --- Kernels

KG_DRIVER cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return after_init("cuKernelGetFunction", [&] {
    demand_pointer(function, "pFunc");
    *function = &function_of(kernel);
  });
}
KG_DRIVER cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  return after_init("cuKernelGetLibrary", [&] {
    demand_pointer(library, "pLib");
    *library = reinterpret_cast<CUlibrary>(function_of(kernel).module);
  });
}
KG_DRIVER cuKernelGetName(const char** name, CUkernel kernel) {
  return after_init("cuKernelGetName", [&] {
    demand_pointer(name, "name");
    *name = function_of(kernel).name.c_str();
  });
}
KG_DRIVER cuKernelGetAttribute(int* value, CUfunction_attribute which, CUkernel kernel,
                               CUdevice device) {
  return after_init("cuKernelGetAttribute", [&] {
    demand_pointer(value, "pi");
    kg::foreign::demand_device(device);
    function_of(kernel);
    *value = attribute(which, kernel);
  });
}
KG_DRIVER cuKernelSetAttribute(CUfunction_attribute which, int value, CUkernel kernel,
                               CUdevice device) {
  return after_init("cuKernelSetAttribute", [&] {
    kg::foreign::demand_device(device);
    set(which, value, function_of(kernel));
  });
}
KG_DRIVER cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache, CUdevice) {
  return after_init("cuKernelSetCacheConfig", [&] { function_of(kernel); });
}
KG_DRIVER cuKernelGetParamInfo(CUkernel kernel, std::size_t index, std::size_t* offset,
                               std::size_t* bytes) {
  return parameter(kernel, index, offset, bytes);
}
