// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The C header of this name, but an assertion that fails in a kernel is a fault of the kernel
// (cudaErrorAssert), as on a GPU, and does not end the process. As often included as written:
// NDEBUG may have changed.
#pragma GCC system_header // include_next is no standard C++
#include_next <assert.h>

#if !defined(NDEBUG) && defined(__cplusplus)
#include "cuda/source/assertion.h"
#undef assert
#define assert(...)                                                                                \
  (static_cast<bool>(__VA_ARGS__)                                                                  \
       ? static_cast<void>(0)                                                                      \
       : ::kg::foreign::assertion_failed(#__VA_ARGS__, __FILE__, __LINE__, __PRETTY_FUNCTION__))
#endif
