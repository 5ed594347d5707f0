// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Like the C header of the same name, but an assertion that fails in a kernel is a kernel fault
// (cudaErrorAssert). As on a GPU, it does not end the process. There is no include guard, because
// NDEBUG may change between two includes.
#pragma GCC system_header // include_next is not standard C++
#include_next <assert.h>

#if !defined(NDEBUG) && defined(__cplusplus)
#include "cuda/source/assertion.h"
#undef assert
#define assert(...)                                                                                \
  (static_cast<bool>(__VA_ARGS__)                                                                  \
       ? static_cast<void>(0)                                                                      \
       : ::kg::foreign::assertion_failed(#__VA_ARGS__, __FILE__, __LINE__, __PRETTY_FUNCTION__))
#endif
