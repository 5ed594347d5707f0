// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda/source/api.h"

#include <algorithm>
#include <string_view>

namespace kg::emulate {

// Makes the primary context current to the calling thread, unless a context is current
// (driver/context.cpp).
void use_primary_context();

// Whether this function of the runtime API initializes the primary context, as most do (CUDA
// Runtime API, "Initialization" and "Interactions with the CUDA Driver API").
constexpr bool initialises(std::string_view name) {
  constexpr std::string_view kOthers[] = {
      "cudaChooseDevice",       "cudaCreateChannelDesc",   "cudaDeviceCanAccessPeer",
      "cudaDeviceGetAttribute", "cudaDeviceGetByPCIBusId", "cudaDeviceGetPCIBusId",
      "cudaDeviceReset",        "cudaDriverGetVersion",    "cudaGetDevice",
      "cudaGetDeviceCount",     "cudaGetDeviceFlags",      "cudaGetDeviceProperties",
      "cudaGetErrorName",       "cudaGetErrorString",      "cudaGetLastError",
      "cudaPeekAtLastError",    "cudaRuntimeGetVersion",   "cudaSetDeviceFlags",
      "cudaSetValidDevices"};
  return name.starts_with("cuda") && std::ranges::find(kOthers, name) == std::end(kOthers);
}

} // namespace kg::emulate

// Defines `name` with C linkage, next to the C++ function of the same name.
#define KG_EXPORT(result, name, parameters, call)                                                  \
  extern "C" [[gnu::visibility("default")]] result kg_export_##name parameters asm(#name);         \
  result kg_export_##name parameters {                                                             \
    if constexpr (kg::emulate::initialises(#name)) kg::emulate::use_primary_context();             \
    return call;                                                                                   \
  }

// The same. nvcc -default-stream per-thread calls the version with `suffix`: from its first call
// on, a null stream is the calling thread's own stream.
#define KG_EXPORT_PER_THREAD(result, name, suffix, parameters, call)                               \
  KG_EXPORT(result, name, parameters, call)                                                        \
  extern "C" [[gnu::visibility("default")]] result kg_export_##name##suffix parameters asm(        \
      #name #suffix);                                                                              \
  result kg_export_##name##suffix parameters {                                                     \
    kg::foreign::use_per_thread_default_stream();                                                  \
    kg::emulate::use_primary_context();                                                            \
    return call;                                                                                   \
  }
