// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Looks up functions by name and version for programs: cuGetProcAddress, and
// cudaGetDriverEntryPoint of the runtime API. Streams run their work at once, so a per-thread
// default stream is the common default stream.
#include "cuda/binary/driver/call.h"

#include <atomic>
#include <cstdio>
#include <dlfcn.h>
#include <string>

#define KG_RUNTIME extern "C" [[gnu::visibility("default")]] cudaError_t

namespace kg::emulate {
namespace {

// Functions whose arguments have changed: the symbol to use from a version on, newest first.
struct Version {
  const char* name;
  int since;
  const char* symbol;
};
constexpr Version kVersions[] = {
    {"cuCtxCreate", 12050, "cuCtxCreate_v4"},
    {"cuCtxCreate", 11040, "cuCtxCreate_v3"},
    {"cuCtxCreate", 0, "cuCtxCreate_v2"},
    {"cuGetProcAddress", 12000, "cuGetProcAddress_v2"},
    {"cuGetProcAddress", 0, "cuGetProcAddress"},
    {"cuMemAdvise", 12020, "cuMemAdvise_v2"},
    {"cuMemAdvise", 0, "cuMemAdvise"},
    {"cuMemPrefetchAsync", 12020, "cuMemPrefetchAsync_v2"},
    {"cuMemPrefetchAsync", 0, "cuMemPrefetchAsync"},
    {"cuCtxGetDevice", 13000, "cuCtxGetDevice_v2"},
    {"cuCtxGetDevice", 0, "cuCtxGetDevice"},
    {"cuCtxSynchronize", 13000, "cuCtxSynchronize_v2"},
    {"cuCtxSynchronize", 0, "cuCtxSynchronize"},
    {"cuGraphInstantiate", 0, "cuGraphInstantiateWithFlags"},
    {"cuStreamGetCaptureInfo", 12030, "cuStreamGetCaptureInfo_v3"},
    {"cuStreamGetCaptureInfo", 11030, "cuStreamGetCaptureInfo_v2"},
};

// The library itself, made visible to all libraries: code translated from PTX is loaded later and
// needs its functions, even if the program opened the library with RTLD_LOCAL.
void* self() {
  static void* const handle = [] {
    Dl_info info{};
    dladdr(reinterpret_cast<void*>(&cuInit), &info);
    return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
  }();
  return handle;
}
[[gnu::constructor]] void show() { self(); }

void* find(const std::string& name, int version) {
  for (const Version& known : kVersions)
    if (name == known.name && version >= known.since) return dlsym(self(), known.symbol);
  if (!name.starts_with("cu")) return nullptr;
  void* const second = dlsym(self(), (name + "_v2").c_str());
  return second ? second : dlsym(self(), name.c_str());
}

} // namespace
} // namespace kg::emulate

KG_DRIVER cuGetProcAddress(const char* name, void** function, int version, cuuint64_t,
                           CUdriverProcAddressQueryResult* status) {
  if (!name || !function) return CUDA_ERROR_INVALID_VALUE;
  *function = kg::emulate::find(name, version);
  if (status)
    *status = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
#undef cuGetProcAddress // before CUDA 12
KG_DRIVER cuGetProcAddress(const char* name, void** function, int version, cuuint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

// Both APIs use the same numbers for the query's results.
KG_RUNTIME cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                            unsigned long long flags,
                                            CUdriverProcAddressQueryResult* status) {
  if (!name || !function) return cudaErrorInvalidValue;
  // An unknown name is a valid answer here, not an error.
  CUdriverProcAddressQueryResult result = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  cuGetProcAddress_v2(name, function, static_cast<int>(version), flags, &result);
  if (status) *status = result;
  return cudaSuccess;
}
KG_RUNTIME cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                                   CUdriverProcAddressQueryResult* status) {
  return cudaGetDriverEntryPointByVersion(name, function, CUDA_VERSION, flags, status);
}

// Tables that NVIDIA does not document. A CUDA runtime that is linked into a program or a library
// asks for them, and checks that the driver is NVIDIA's. static_cudart.cpp replaces such a runtime
// if it has a symbol table. NVRTC asks, too, and works without them.
KG_DRIVER cuGetExportTable(const void** table, const CUuuid*) {
  if (table) *table = nullptr;
  Dl_info caller{};
  dladdr(__builtin_return_address(0), &caller);
  const std::string library = caller.dli_fname ? caller.dli_fname : "a library";
  static std::atomic<bool> said = false;
  if (library.find("libnvrtc") == library.npos && !said.exchange(true))
    std::fprintf(stderr,
                 "kernelgrade: cuGetExportTable: %s is stripped and holds its own CUDA runtime, "
                 "which works only with NVIDIA's driver; link it with nvcc -cudart shared\n",
                 library.c_str());
  return CUDA_ERROR_NOT_FOUND;
}
