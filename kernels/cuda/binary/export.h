// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda/source/api.h"

// Defines `name` with C linkage, next to the C++ function of the same name.
#define KG_EXPORT(result, name, parameters, call)                                                  \
  extern "C" [[gnu::visibility("default")]] result kg_export_##name parameters asm(#name);         \
  result kg_export_##name parameters { return call; }

// The same. nvcc -default-stream per-thread calls the version with `suffix`: from its first call
// on, a null stream is the calling thread's own stream.
#define KG_EXPORT_PER_THREAD(result, name, suffix, parameters, call)                               \
  KG_EXPORT(result, name, parameters, call)                                                        \
  extern "C" [[gnu::visibility("default")]] result kg_export_##name##suffix parameters asm(        \
      #name #suffix);                                                                              \
  result kg_export_##name##suffix parameters {                                                     \
    kg::foreign::use_per_thread_default_stream();                                                  \
    return call;                                                                                   \
  }
