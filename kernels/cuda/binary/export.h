// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines `name` with C linkage beside its C++ namesake.
#define KG_EXPORT(result, name, parameters, call)                                                  \
  extern "C" [[gnu::visibility("default")]] result kg_export_##name parameters asm(#name);         \
  result kg_export_##name parameters { return call; }
