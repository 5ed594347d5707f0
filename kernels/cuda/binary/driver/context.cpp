// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Initialization and contexts. There is one device, and all contexts share its memory.
#include "cuda/binary/driver/call.h"
#include "cuda/binary/export.h"
#include "cuda/source/handles.h"

#include <algorithm>
#include <atomic>
#include <vector>

struct CUctx_st {
  unsigned flags = 0;
  unsigned long long id = 0;
  int attached = 1; // cuCtxAttach adds one, cuCtxDetach takes one
};

namespace kg::emulate {
namespace {

struct Contexts {
  std::atomic<bool> initialised = false;
  foreign::Handles<CUctx_st> created;
  std::mutex mutex; // for the members below
  CUctx_st primary;
  int retained = 0;        // how often the primary context is retained
  bool of_runtime = false; // whether the runtime API has retained it
  unsigned long long count = 0;
};
Contexts& contexts() {
  static auto& only = *new Contexts;
  return only;
}

// A thread's context stack; the last one is current. The initial-exec model marks the library for
// the loader. Its thread-local variables are then where code translated from PTX expects them, even
// if a program opens the library late.
[[gnu::tls_model("initial-exec")]] thread_local std::vector<CUcontext> stack;

bool is_alive(CUcontext context) {
  Contexts& all = contexts();
  if (context == &all.primary) {
    const std::lock_guard lock(all.mutex);
    return all.retained > 0;
  }
  const std::vector<CUcontext> live = all.created.all();
  return std::find(live.begin(), live.end(), context) != live.end();
}

void demand_context(CUcontext context) {
  demand(is_alive(context), CUDA_ERROR_INVALID_CONTEXT, "not a context, or a destroyed one");
}

void make_current(CUcontext context) {
  if (!stack.empty()) stack.pop_back();
  if (context) stack.push_back(context);
}

CUresult create(CUcontext* context, unsigned flags, CUdevice device) {
  return after_init("cuCtxCreate", [&] {
    demand_pointer(context, "pctx");
    foreign::demand_device(device);
    auto created = std::make_unique<CUctx_st>();
    created->flags = flags;
    {
      const std::lock_guard lock(contexts().mutex);
      created->id = ++contexts().count;
    }
    *context = contexts().created.add(std::move(created));
    stack.push_back(*context);
  });
}

} // namespace

CUresult initialised() {
  return contexts().initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult in_context() {
  if (const CUresult missing = initialised()) return missing;
  if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  return is_alive(stack.back()) ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

void use_primary_context() {
  if (!stack.empty()) return;
  Contexts& all = contexts();
  all.initialised = true;
  {
    const std::lock_guard lock(all.mutex);
    if (!all.of_runtime) ++all.retained;
    all.of_runtime = true;
  }
  stack.push_back(&all.primary);
}

CUresult code_of(cudaError_t error) {
  switch (static_cast<int>(error)) {
  case cudaErrorInvalidConfiguration:
  case cudaErrorInvalidPitchValue:
  case cudaErrorInvalidDevicePointer:
  case cudaErrorInvalidChannelDescriptor:
  case cudaErrorInvalidMemcpyDirection: return CUDA_ERROR_INVALID_VALUE;
  case cudaErrorInvalidSymbol: return CUDA_ERROR_NOT_FOUND;
  // Handles were checked before, so the kernel contains something unsupported.
  case cudaErrorInvalidDeviceFunction: return CUDA_ERROR_NO_BINARY_FOR_GPU;
  default: return static_cast<CUresult>(error);
  }
}

} // namespace kg::emulate

using namespace kg::emulate;
namespace foreign = kg::foreign;

KG_DRIVER cuInit(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  contexts().initialised = true;
  return CUDA_SUCCESS;
}

// --- The primary context

KG_DRIVER cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return after_init("cuDevicePrimaryCtxRetain", [&] {
    demand_pointer(context, "pctx");
    foreign::demand_device(device);
    const std::lock_guard lock(contexts().mutex);
    ++contexts().retained;
    *context = &contexts().primary;
  });
}
KG_DRIVER cuDevicePrimaryCtxRelease(CUdevice device) {
  return after_init("cuDevicePrimaryCtxRelease", [&] {
    foreign::demand_device(device);
    const std::lock_guard lock(contexts().mutex);
    demand(contexts().retained > 0, CUDA_ERROR_INVALID_CONTEXT, "it is not retained");
    --contexts().retained;
  });
}
// Not by call(), because a reset clears a kernel fault.
KG_DRIVER cuDevicePrimaryCtxReset(CUdevice device) {
  if (const CUresult missing = initialised()) return missing;
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  return code_of(cudaDeviceReset());
}
KG_DRIVER cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return after_init("cuDevicePrimaryCtxSetFlags", [&] {
    foreign::demand_device(device);
    const std::lock_guard lock(contexts().mutex);
    contexts().primary.flags = flags;
  });
}
KG_DRIVER cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return after_init("cuDevicePrimaryCtxGetState", [&] {
    demand_pointer(flags, "flags");
    demand_pointer(active, "active");
    foreign::demand_device(device);
    const std::lock_guard lock(contexts().mutex);
    *flags = contexts().primary.flags;
    *active = contexts().retained > 0;
  });
}

// --- Contexts

KG_DRIVER cuCtxCreate(CUcontext* context, CUctxCreateParams*, unsigned flags, CUdevice device) {
  return create(context, flags, device);
}
KG_DRIVER cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam*, int, unsigned flags,
                         CUdevice device) {
  return create(context, flags, device);
}
KG_DRIVER cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
  return create(context, flags, device);
}
KG_DRIVER cuCtxDestroy(CUcontext context) {
  return after_init("cuCtxDestroy", [&] {
    demand(context != nullptr && context != &contexts().primary, CUDA_ERROR_INVALID_CONTEXT,
           "this is not a context that cuCtxCreate made");
    demand_context(context);
    contexts().created.remove(context, "context");
    if (!stack.empty() && stack.back() == context) stack.pop_back();
  });
}
// Both are deprecated. PyCUDA calls them.
KG_DRIVER cuCtxAttach(CUcontext* context, unsigned flags) {
  return driver("cuCtxAttach", [&] {
    demand_pointer(context, "pctx");
    demand(flags == 0, CUDA_ERROR_INVALID_VALUE, "flags are " + std::to_string(flags));
    const std::lock_guard lock(contexts().mutex);
    ++stack.back()->attached;
    *context = stack.back();
  });
}
KG_DRIVER cuCtxDetach(CUcontext context) {
  bool last = false;
  const CUresult error = driver("cuCtxDetach", [&] {
    demand(context == stack.back(), CUDA_ERROR_INVALID_CONTEXT, "it is not current");
    const std::lock_guard lock(contexts().mutex);
    last = --context->attached == 0;
  });
  return error || !last ? error : cuCtxDestroy(context);
}
KG_DRIVER cuCtxPushCurrent(CUcontext context) {
  return after_init("cuCtxPushCurrent", [&] {
    demand_context(context);
    stack.push_back(context);
  });
}
KG_DRIVER cuCtxPopCurrent(CUcontext* context) {
  if (const CUresult missing = initialised()) return missing;
  if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (context) *context = stack.back();
  stack.pop_back();
  return CUDA_SUCCESS;
}
KG_DRIVER cuCtxSetCurrent(CUcontext context) {
  return after_init("cuCtxSetCurrent", [&] {
    if (context) demand_context(context);
    make_current(context);
  });
}
KG_DRIVER cuCtxGetCurrent(CUcontext* context) {
  if (const CUresult missing = initialised()) return missing;
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  *context = stack.empty() ? nullptr : stack.back();
  return CUDA_SUCCESS;
}
KG_DRIVER cuCtxGetDevice(CUdevice* device) {
  return driver("cuCtxGetDevice", [&] {
    demand_pointer(device, "device");
    *device = 0;
  });
}
KG_DRIVER cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
  return after_init("cuCtxGetDevice_v2", [&] {
    demand_pointer(device, "device");
    if (context) demand_context(context);
    *device = 0;
  });
}
KG_DRIVER cuCtxGetFlags(unsigned* flags) {
  return driver("cuCtxGetFlags", [&] {
    demand_pointer(flags, "flags");
    *flags = stack.back()->flags;
  });
}
KG_DRIVER cuCtxSetFlags(unsigned flags) {
  return driver("cuCtxSetFlags", [&] { stack.back()->flags = flags; });
}
KG_DRIVER cuCtxGetId(CUcontext context, unsigned long long* id) {
  return driver("cuCtxGetId", [&] {
    demand_pointer(id, "ctxId");
    if (context) demand_context(context);
    *id = (context ? context : stack.back())->id;
  });
}
KG_DRIVER cuCtxGetApiVersion(CUcontext context, unsigned* version) {
  return after_init("cuCtxGetApiVersion", [&] {
    demand_pointer(version, "version");
    if (context) demand_context(context);
    *version = 3020;
  });
}
KG_DRIVER cuCtxSynchronize() { return by_runtime(cudaDeviceSynchronize); }
KG_DRIVER cuCtxSynchronize_v2(CUcontext context) {
  if (context && !is_alive(context)) return CUDA_ERROR_INVALID_CONTEXT;
  return initialised() ? initialised() : code_of(cudaDeviceSynchronize());
}

// --- Settings without effect

KG_DRIVER cuCtxSetLimit(CUlimit limit, std::size_t value) {
  return by_runtime(cudaDeviceSetLimit, static_cast<cudaLimit>(limit), value);
}
KG_DRIVER cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  return by_runtime(cudaDeviceGetLimit, value, static_cast<cudaLimit>(limit));
}
KG_DRIVER cuCtxSetCacheConfig(CUfunc_cache) { return in_context(); }
KG_DRIVER cuCtxGetCacheConfig(CUfunc_cache* config) {
  return driver("cuCtxGetCacheConfig", [&] {
    demand_pointer(config, "pconfig");
    *config = CU_FUNC_CACHE_PREFER_NONE;
  });
}
KG_DRIVER cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return by_runtime(cudaDeviceGetStreamPriorityRange, least, greatest);
}
KG_DRIVER cuCtxResetPersistingL2Cache() { return in_context(); }
KG_DRIVER cuCtxEnablePeerAccess(CUcontext, unsigned) {
  return driver("cuCtxEnablePeerAccess",
                [] { refuse(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "there is one device"); });
}
KG_DRIVER cuCtxDisablePeerAccess(CUcontext) { return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED; }
KG_DRIVER cuProfilerStart() { return in_context(); }
KG_DRIVER cuProfilerStop() { return in_context(); }
