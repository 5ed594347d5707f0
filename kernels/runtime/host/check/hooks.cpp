// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The checkers' implementation of the calls from instrumented code.
#include "runtime/host/check/access_check.h"

namespace {

using namespace kg::check;

template <Kind kind>
[[gnu::always_inline]] inline void accessed(const volatile void* p, std::size_t bytes,
                                            std::size_t alignment, const void* instruction) {
  the_checker().access<kind>(reinterpret_cast<std::uintptr_t>(p), bytes, alignment, instruction);
}
template <Kind kind>
[[gnu::always_inline]] inline void accessed_atomically(const volatile void* p, std::size_t bytes,
                                                       const void* instruction) {
  the_checker().atomic_access<kind>(reinterpret_cast<std::uintptr_t>(p), bytes, instruction);
}

inline bool is_device_code() { return kg::host::current_block && !the_checker().is_aside(); }

inline void ordered(int order, const void* instruction) {
  if (order >= __ATOMIC_RELEASE) the_checker().ordered(order, instruction);
}

} // namespace

#include "runtime/host/check/hook_functions.h"
