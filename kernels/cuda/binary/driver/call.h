// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How functions of the driver API (CUDA Driver API 13.0) are written: over those of the runtime
// API, with which they share the device, its memory, streams and errors.
#pragma once

#include <cuda.h> // the toolkit's

#include "cuda/source/state.h"

#define KG_DRIVER extern "C" [[gnu::visibility("default")]] CUresult

namespace kg::emulate {

// The codes of both APIs have the same numbers, but for those that the runtime alone has.
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
// Success where the thread's current context is alive as well.
CUresult in_context();

// Runs `body` as the function `name`, after cuInit.
template <class Body>
CUresult after_init(const char* name, Body&& body) {
  if (const CUresult missing = initialised()) return missing;
  return code_of(foreign::call(name, body));
}

// The same of a function that needs a current context.
template <class Body>
CUresult driver(const char* name, Body&& body) {
  if (const CUresult missing = in_context()) return missing;
  return code_of(foreign::call(name, body));
}

// What a function of the runtime API does, in a current context.
template <class Function, class... Arguments>
CUresult by_runtime(Function function, Arguments... arguments) {
  if (const CUresult missing = in_context()) return missing;
  return code_of(function(arguments...));
}

inline void* pointer_to(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

} // namespace kg::emulate
