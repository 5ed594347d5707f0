// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Switches between stacks. The cost of a switch decides how fast barriers and shuffles run on the
// host backend.
//
// On x86-64 the switch is inline assembly: it saves three words and jumps. All switches are made
// from the same place, so the jump and the following returns stay predictable. A library call,
// including Boost.Context's, costs two to three times as much per barrier. Other platforms, and
// builds with KG_FIBER_BOOST, use Boost.Context's fcontext.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define KG_ASAN_FIBERS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KG_ASAN_FIBERS 1
#endif
#endif

#if KG_ASAN_FIBERS
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if !defined(__x86_64__) && !defined(KG_FIBER_BOOST)
#define KG_FIBER_BOOST 1
#endif
#if KG_FIBER_BOOST
#include <boost/context/detail/fcontext.hpp>
#endif

namespace kg::host {

// A suspended flow of control: its resume address (and its stack, for AddressSanitizer).
struct Context {
  void* resume = nullptr;
#if KG_ASAN_FIBERS
  const void* stack_bottom = nullptr;
  std::size_t stack_size = 0;
#endif
};

#if KG_FIBER_BOOST
inline void jump(void** from, void* to) {
  const auto transfer = boost::context::detail::jump_fcontext(to, from);
  *static_cast<void**>(transfer.data) = transfer.fctx;
}
#else
// Pushes below the stack pointer: the enclosing translation unit must be compiled with
// -mno-red-zone (System V ABI, section 3.2.2). Skipping the red zone instead would cost every
// waiting thread one more cache line.
inline void jump(void** from, void* to) {
  asm volatile("pushq %%rbp\n\t"
               "leaq 1f(%%rip), %%rax\n\t"
               "pushq %%rax\n\t"
               "movq %%rsp, (%%rdi)\n\t"
               "movq %%rsi, %%rsp\n\t"
               "popq %%rax\n\t"
               "jmpq *%%rax\n\t"
               "1:\n\t"
               "popq %%rbp\n\t"
               : "+D"(from), "+S"(to)
               :
               : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
                 "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                 "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
#if defined(__AVX512F__)
                 "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24",
                 "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3",
                 "k4", "k5", "k6", "k7",
#endif
                 "memory", "cc");
}
#endif

#if KG_ASAN_FIBERS
struct StackBounds {
  const void* bottom;
  std::size_t size;
};
// Bounds of this OS thread's current stack; unknown until the first switch away from its own stack.
inline thread_local StackBounds running_stack{nullptr, 0};

inline StackBounds stack_of_this_thread() {
  pthread_attr_t attributes;
  void* bottom = nullptr;
  std::size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &bottom, &size);
  pthread_attr_destroy(&attributes);
  return {bottom, size};
}
#endif

// Suspends the running flow in `from` and continues `to`. Returns when another flow switches back
// to `from`. `leaving` promises that `from` will never be continued.
inline void switch_context(Context& from, const Context& to,
                           [[maybe_unused]] bool leaving = false) {
#if KG_ASAN_FIBERS
  if (!running_stack.bottom) running_stack = stack_of_this_thread();
  from.stack_bottom = running_stack.bottom;
  from.stack_size = running_stack.size;
  running_stack = {to.stack_bottom, to.stack_size};
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(leaving ? nullptr : &fake_stack, to.stack_bottom, to.stack_size);
#endif
  jump(&from.resume, to.resume);
#if KG_ASAN_FIBERS
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

#if KG_FIBER_BOOST
template <void (*Entry)()>
void boost_entry(boost::context::detail::transfer_t transfer) {
  *static_cast<void**>(transfer.data) = transfer.fctx;
  Entry();
}
#endif

// A context on the given stack memory that first calls `Entry`, which never returns.
template <void (*Entry)()>
Context make_context(void* bottom, std::size_t size) {
  Context context;
#if KG_ASAN_FIBERS
  context.stack_bottom = bottom;
  context.stack_size = size;
#endif
#if KG_FIBER_BOOST
  context.resume = boost::context::detail::make_fcontext(static_cast<char*>(bottom) + size, size,
                                                         &boost_entry<Entry>);
#else
  // [entry][return address 0]: after `popq; jmpq` the stack pointer is 8 below a multiple of 16, as
  // at any function entry.
  void** top = reinterpret_cast<void**>(static_cast<char*>(bottom) + (size & ~std::size_t{15}));
  top[-1] = nullptr;
  top[-2] = nullptr;
  top[-3] = nullptr;
  top[-4] = reinterpret_cast<void*>(Entry);
  context.resume = &top[-4];
#endif
  return context;
}

// Must be called first on a fresh stack.
inline void entered_fresh_stack() {
#if KG_ASAN_FIBERS
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
}

} // namespace kg::host
