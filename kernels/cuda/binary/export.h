// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda/source/api.h"

#include <algorithm>
#include <string_view>

namespace kg::emulate {

// Makes the primary context the calling thread's, where it has none (driver/context.cpp).
void use_primary_context();

// Whether the function of the runtime API initialises it, as most do (CUDA Runtime API,
// "Initialization" and "Interactions with the CUDA Driver API").
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

// Defines `name` with C linkage beside its C++ namesake.
#define KG_EXPORT(result, name, parameters, call)                                                  \
  extern "C" [[gnu::visibility("default")]] result kg_export_##name parameters asm(#name);         \
  result kg_export_##name parameters {                                                             \
    if constexpr (kg::emulate::initialises(#name)) kg::emulate::use_primary_context();             \
    return call;                                                                                   \
  }

// The same, and with `suffix` what nvcc -default-stream per-thread calls: from its first call on, a
// null stream is the calling thread's own.
#define KG_EXPORT_PER_THREAD(result, name, suffix, parameters, call)                               \
  KG_EXPORT(result, name, parameters, call)                                                        \
  extern "C" [[gnu::visibility("default")]] result kg_export_##name##suffix parameters asm(        \
      #name #suffix);                                                                              \
  result kg_export_##name##suffix parameters {                                                     \
    kg::foreign::use_per_thread_default_stream();                                                  \
    kg::emulate::use_primary_context();                                                            \
    return call;                                                                                   \
  }
