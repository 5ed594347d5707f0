// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The counters' implementation of the calls from instrumented code.
#include "runtime/host/check/access.h"
#include "runtime/host/count/counter.h"

namespace {

using namespace kg::check;
using kg::count::Access;

template <Kind kind>
[[gnu::always_inline]] inline void accessed(const volatile void* p, std::size_t bytes, std::size_t,
                                            const void* instruction) {
  constexpr Access access = is_write(kind) ? Access::store : Access::load;
  kg::count::the_counter->accessed<access>(reinterpret_cast<std::uintptr_t>(p), bytes, instruction);
}

// Atomic loads are not counted: one atomic instruction on a GPU is a load and a compare-and-swap in
// atomics.h, and kernels read flags through volatile.
template <Kind kind>
[[gnu::always_inline]] inline void accessed_atomically(const volatile void* p, std::size_t bytes,
                                                       const void* instruction) {
  if constexpr (kind == Kind::volatile_read || kind == Kind::volatile_write) {
    accessed<kind>(p, bytes, bytes, instruction);
  } else if constexpr (is_write(kind)) {
    kg::count::the_counter->accessed<Access::atomic>(reinterpret_cast<std::uintptr_t>(p), bytes,
                                                     instruction);
  }
}

inline bool is_device_code() { return kg::host::current_block != nullptr; }

inline void ordered(int, const void*) {}

} // namespace

#include "runtime/host/check/hook_functions.h"

// Arithmetic faults that kernels are compiled to report (check/arithmetic.cpp) only concern the
// checkers.
extern "C" {
void __ubsan_handle_out_of_bounds(void*, std::uintptr_t) {}
void __ubsan_handle_add_overflow(void*, std::uintptr_t, std::uintptr_t) {}
void __ubsan_handle_sub_overflow(void*, std::uintptr_t, std::uintptr_t) {}
void __ubsan_handle_mul_overflow(void*, std::uintptr_t, std::uintptr_t) {}
void __ubsan_handle_negate_overflow(void*, std::uintptr_t) {}
void __ubsan_handle_divrem_overflow(void*, std::uintptr_t, std::uintptr_t) {}
void __ubsan_handle_shift_out_of_bounds(void*, std::uintptr_t, std::uintptr_t) {}
}
