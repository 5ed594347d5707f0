// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Helpers for implementing the driver API (CUDA Driver API 13.0) on the runtime API. Both APIs
// share the device, its memory, streams and errors.
#pragma once

#include <cuda.h> // from the toolkit

#include "cuda/source/state.h"

#define KG_DRIVER extern "C" [[gnu::visibility("default")]] CUresult

namespace kg::emulate {

// Both APIs use the same error numbers; some codes exist only in the runtime.
CUresult code_of(cudaError_t error);

[[noreturn]] inline void refuse(CUresult code, const std::string& why) {
  throw foreign::Refusal(static_cast<cudaError_t>(code), why);
}
inline void demand(bool condition, CUresult code, const std::string& why) {
  if (!condition) refuse(code, why);
}
inline void demand_pointer(const void* pointer, const char* name) {
  demand(pointer != nullptr, CUDA_ERROR_INVALID_VALUE, std::string(name) + " is null");
}

// Success after cuInit (context.cpp).
CUresult initialised();
// Success if, in addition, the thread's current context is alive.
CUresult in_context();

// Runs `body` as the function `name`, after cuInit.
template <class Body>
CUresult after_init(const char* name, Body&& body) {
  if (const CUresult missing = initialised()) return missing;
  return code_of(foreign::call(name, body));
}

// The same for a function that needs a current context.
template <class Body>
CUresult driver(const char* name, Body&& body) {
  if (const CUresult missing = in_context()) return missing;
  return code_of(foreign::call(name, body));
}

// Calls a function of the runtime API, in a current context.
template <class Function, class... Arguments>
CUresult by_runtime(Function function, Arguments... arguments) {
  if (const CUresult missing = in_context()) return missing;
  return code_of(function(arguments...));
}

inline void* pointer_to(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

} // namespace kg::emulate
