// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Recognises threads that poll: that look at memory again and again until others change it.
#pragma once

// Of what the runtime keeps per OS thread. Code of a program reaches it at a fixed distance. Left
// to itself, g++ takes the address of its place in the table of addresses where a loop uses it
// often, and GNU ld then links programs with -rdynamic alone ("TLS transition ... failed"). Code of
// a library that is loaded, as the JIT's is, must look into the table.
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

// What a loop sees that polls one word or several: after some looks, the first of them again. One
// look is kept for later ones to be compared with, and gives way after 1, 2, 4, ... others (Brent,
// "An improved Monte Carlo factorization algorithm", 1980). A loop that reads an array never
// returns.
struct Looks {
  const volatile void* address = nullptr;
  unsigned long long value = 0;
  unsigned count = 0; // of looks since that one
  unsigned most = 1;
  unsigned again = 0; // how often it came back
  // Atomic and volatile writes of the block that runs on this OS thread, which changed memory. The
  // checkers count plain ones, too.
  unsigned long long changes = 0;

  static constexpr unsigned kPatience = 8;

  // Whether it is time to let others run.
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
