// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Detects threads that poll, i.e. read memory repeatedly until other threads change it.
#pragma once

// For the runtime's thread-local data. A program reaches this data at a fixed offset. By default,
// g++ loads its address from the GOT if a loop uses it often, and GNU ld then fails to link
// programs with only -rdynamic ("TLS transition ... failed"). Code of a dynamically loaded library,
// such as the JIT's, must use the GOT.
#if defined(__PIC__) && !defined(__PIE__)
#define KG_PROGRAM_TLS
#else
#define KG_PROGRAM_TLS [[gnu::tls_model("local-exec")]]
#endif

#if defined(__GNUC__) && !defined(__clang__)
#define KG_NOT_INSTRUMENTED [[gnu::no_sanitize("thread")]]
#else
#define KG_NOT_INSTRUMENTED
#endif

namespace kg::host {

// Detects a loop that polls one or several words by a repeated look. One look is kept for
// comparison with later looks, and is replaced after 1, 2, 4, ... others (Brent, "An improved Monte
// Carlo factorization algorithm", 1980). A loop that reads an array never repeats a look.
struct Looks {
  const volatile void* address = nullptr;
  unsigned long long value = 0;
  unsigned count = 0; // looks since the kept one
  unsigned most = 1;
  unsigned again = 0; // repetitions of the kept look
  // Number of memory changes by atomic and volatile writes of the block on this OS thread. The
  // checkers also count plain writes.
  unsigned long long changes = 0;

  static constexpr unsigned kPatience = 8;

  // Whether other threads should run now.
  KG_NOT_INSTRUMENTED bool in_vain(const volatile void* at, unsigned long long found) {
    if (at == address && found == value) {
      count = 0;
      return ++again == kPatience;
    }
    if (++count >= most) {
      address = at;
      value = found;
      most *= 2;
      count = again = 0;
    }
    return false;
  }
  KG_NOT_INSTRUMENTED void begin_anew() {
    address = nullptr;
    count = again = 0;
    most = 1;
  }
};
KG_PROGRAM_TLS extern constinit thread_local Looks looks;

} // namespace kg::host
