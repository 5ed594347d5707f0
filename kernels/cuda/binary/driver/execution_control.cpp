// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches as before CUDA 4 (CUDA Driver API, "Execution Control [DEPRECATED]"): a function keeps
// its block, shared memory and arguments until it is launched. PyCUDA calls these functions.
#include "cuda/binary/driver/modules.h"

#include <cstring>

namespace kg::emulate {
namespace {

template <class Change>
CUresult change(const char* name, CUfunction function, Change&& with) {
  return driver(name, [&] { with(function_of(function).prepared); });
}

CUresult put(const char* name, CUfunction function, int offset, const void* value,
             std::size_t bytes) {
  return change(name, function, [&](Prepared& of) {
    demand(offset >= 0, CUDA_ERROR_INVALID_VALUE, "offset " + std::to_string(offset));
    demand_pointer(value, "ptr");
    const std::size_t begin = static_cast<std::size_t>(offset);
    if (of.arguments.size() < begin + bytes) of.arguments.resize(begin + bytes);
    std::memcpy(of.arguments.data() + begin, value, bytes);
  });
}

CUresult launch(CUfunction function, int width, int height, CUstream stream) {
  Prepared what;
  const CUresult error = change("cuLaunchGrid", function, [&](Prepared& of) {
    demand(width > 0 && height > 0, CUDA_ERROR_INVALID_VALUE,
           "a grid of " + std::to_string(width) + " x " + std::to_string(height) + " blocks");
    what = of;
  });
  if (error) return error;
  std::size_t bytes = what.arguments.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, what.arguments.data(),
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  return cuLaunchKernel(function, static_cast<unsigned>(width), static_cast<unsigned>(height), 1,
                        what.block[0], what.block[1], what.block[2], what.shared, stream, nullptr,
                        extra);
}

} // namespace
} // namespace kg::emulate

using namespace kg::emulate;

KG_DRIVER cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
  return change("cuFuncSetBlockShape", function, [&](Prepared& of) {
    demand(x > 0 && y > 0 && z > 0, CUDA_ERROR_INVALID_VALUE, "a block has at least one thread");
    of.block[0] = static_cast<unsigned>(x);
    of.block[1] = static_cast<unsigned>(y);
    of.block[2] = static_cast<unsigned>(z);
  });
}
KG_DRIVER cuFuncSetSharedSize(CUfunction function, unsigned bytes) {
  return change("cuFuncSetSharedSize", function, [&](Prepared& of) { of.shared = bytes; });
}
KG_DRIVER cuParamSetSize(CUfunction function, unsigned bytes) {
  return change("cuParamSetSize", function, [&](Prepared& of) { of.arguments.resize(bytes); });
}
KG_DRIVER cuParamSeti(CUfunction function, int offset, unsigned value) {
  return put("cuParamSeti", function, offset, &value, sizeof value);
}
KG_DRIVER cuParamSetf(CUfunction function, int offset, float value) {
  return put("cuParamSetf", function, offset, &value, sizeof value);
}
KG_DRIVER cuParamSetv(CUfunction function, int offset, void* value, unsigned bytes) {
  return put("cuParamSetv", function, offset, value, bytes);
}
KG_DRIVER cuLaunch(CUfunction function) { return launch(function, 1, 1, nullptr); }
KG_DRIVER cuLaunchGrid(CUfunction function, int width, int height) {
  return launch(function, width, height, nullptr);
}
KG_DRIVER cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
  return launch(function, width, height, stream);
}

// Banks of shared memory have one size.
KG_DRIVER cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
  return in_context();
}
KG_DRIVER cuCtxSetSharedMemConfig(CUsharedconfig) { return in_context(); }
KG_DRIVER cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig) {
  return driver("cuFuncSetSharedMemConfig", [&] { function_of(function); });
}
extern "C" [[gnu::visibility("default")]] CUresult cuProfilerInitialize(const char*, const char*,
                                                                        int) {
  return CUDA_ERROR_PROFILER_DISABLED; // as since CUDA 12
}
