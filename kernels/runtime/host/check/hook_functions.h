// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The functions that -fsanitize=thread calls (names and meaning as in LLVM's compiler-rt,
// tsan_interface.h). Programs are compiled with this flag but linked without it, so that these
// functions replace the sanitizer's. Macros generate each family of C functions that differ in a
// number.
//
// This header contains definitions, so exactly one source file of a library includes it. Before,
// that file must define these inline functions in its unnamed namespace:
//   template <Kind> void accessed(const volatile void* p, std::size_t bytes, std::size_t alignment,
//                                 const void* instruction);
//   template <Kind> void accessed_atomically(const volatile void* p, std::size_t bytes,
//                                            const void* instruction); // or as volatile
//   void ordered(int order, const void* instruction); // before an atomic write of that order
//   bool is_device_code(); // whether the running code may be a kernel
#pragma once

#include "runtime/host/check/access.h"
#include "runtime/host/check/polling.h"

#include <cstddef>

using kg::check::Kind;

#define KG_HERE __builtin_return_address(0)

namespace {

// Called after a read with which threads may poll.
template <class Word>
inline void looked(const volatile void* p, Word value, const void* instruction) {
  if (is_device_code() && kg::host::looks.in_vain(p, value)) [[unlikely]]
    kg::check::poll(instruction);
}
template <std::size_t bytes>
inline void looked_at(const volatile void* p, const void* instruction) {
  unsigned long long value = 0;
  if (!is_device_code()) return;
  __builtin_memcpy(&value, const_cast<const void*>(p), bytes < 8 ? bytes : 8);
  looked(p, value, instruction);
}
// Called after an atomic or volatile write.
inline void changed() {
  if (is_device_code()) ++kg::host::looks.changes;
}
template <class Word>
inline void updated(const volatile void* p, Word before, bool is_change, const void* instruction) {
  if (is_change)
    changed();
  else
    looked(p, before, instruction);
}

} // namespace

#define KG_ACCESS(bytes)                                                                           \
  void __tsan_read##bytes(void* p) { accessed<Kind::read>(p, bytes, bytes, KG_HERE); }             \
  void __tsan_write##bytes(void* p) { accessed<Kind::write>(p, bytes, bytes, KG_HERE); }           \
  void __tsan_unaligned_read##bytes(void* p) { accessed<Kind::read>(p, bytes, 1, KG_HERE); }       \
  void __tsan_unaligned_write##bytes(void* p) { accessed<Kind::write>(p, bytes, 1, KG_HERE); }     \
  void __tsan_volatile_read##bytes(void* p) {                                                      \
    accessed_atomically<Kind::volatile_read>(p, bytes, KG_HERE);                                   \
    looked_at<bytes>(p, KG_HERE);                                                                  \
  }                                                                                                \
  void __tsan_volatile_write##bytes(void* p) {                                                     \
    accessed_atomically<Kind::volatile_write>(p, bytes, KG_HERE);                                  \
    changed();                                                                                     \
  }                                                                                                \
  void __tsan_unaligned_volatile_read##bytes(void* p) {                                            \
    accessed_atomically<Kind::volatile_read>(p, bytes, KG_HERE);                                   \
    looked_at<bytes>(p, KG_HERE);                                                                  \
  }                                                                                                \
  void __tsan_unaligned_volatile_write##bytes(void* p) {                                           \
    accessed_atomically<Kind::volatile_write>(p, bytes, KG_HERE);                                  \
    changed();                                                                                     \
  }

// Atomic operations become calls, which must perform the operation. One OS thread runs at a time,
// so the strongest order costs nothing and has the same effect.
#define KG_UPDATE(bits, Word, operation)                                                           \
  Word __tsan_atomic##bits##_fetch_##operation(volatile Word* p, Word value, int order) {          \
    ordered(order, KG_HERE);                                                                       \
    accessed_atomically<Kind::atomic_write>(p, sizeof(Word), KG_HERE);                             \
    const Word before = __atomic_fetch_##operation(p, value, __ATOMIC_SEQ_CST);                    \
    updated(p, before, __atomic_load_n(p, __ATOMIC_SEQ_CST) != before, KG_HERE);                   \
    return before;                                                                                 \
  }
#define KG_COMPARE(bits, Word, strength)                                                           \
  int __tsan_atomic##bits##_compare_exchange_##strength(volatile Word* p, Word* expected,          \
                                                        Word value, int order, int) {              \
    ordered(order, KG_HERE);                                                                       \
    accessed_atomically<Kind::atomic_write>(p, sizeof(Word), KG_HERE);                             \
    const Word wanted = *expected;                                                                 \
    const int done = __atomic_compare_exchange_n(p, expected, value, false, __ATOMIC_SEQ_CST,      \
                                                 __ATOMIC_SEQ_CST);                                \
    updated(p, *expected, done&& value != wanted, KG_HERE);                                        \
    return done;                                                                                   \
  }
#define KG_ATOMIC(bits, Word)                                                                      \
  Word __tsan_atomic##bits##_load(const volatile Word* p, int) {                                   \
    accessed_atomically<Kind::atomic_read>(p, sizeof(Word), KG_HERE);                              \
    const Word found = __atomic_load_n(p, __ATOMIC_SEQ_CST);                                       \
    looked(p, found, KG_HERE);                                                                     \
    return found;                                                                                  \
  }                                                                                                \
  void __tsan_atomic##bits##_store(volatile Word* p, Word value, int order) {                      \
    ordered(order, KG_HERE);                                                                       \
    accessed_atomically<Kind::atomic_write>(p, sizeof(Word), KG_HERE);                             \
    __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                                  \
    changed();                                                                                     \
  }                                                                                                \
  Word __tsan_atomic##bits##_exchange(volatile Word* p, Word value, int order) {                   \
    ordered(order, KG_HERE);                                                                       \
    accessed_atomically<Kind::atomic_write>(p, sizeof(Word), KG_HERE);                             \
    const Word before = __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST);                           \
    updated(p, before, before != value, KG_HERE);                                                  \
    return before;                                                                                 \
  }                                                                                                \
  KG_UPDATE(bits, Word, add)                                                                       \
  KG_UPDATE(bits, Word, sub)                                                                       \
  KG_UPDATE(bits, Word, and)                                                                       \
  KG_UPDATE(bits, Word, or)                                                                        \
  KG_UPDATE(bits, Word, xor)                                                                       \
  KG_UPDATE(bits, Word, nand)                                                                      \
  KG_COMPARE(bits, Word, strong)                                                                   \
  KG_COMPARE(bits, Word, weak)

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit(void*) {}
void __tsan_vptr_update(void** p, void*) { // the vtable pointer, in a constructor
  accessed<Kind::write>(p, sizeof *p, sizeof *p, KG_HERE);
}
void __tsan_vptr_read(void**) {}
void __tsan_atomic_thread_fence(int order) { ordered(order, KG_HERE); } // not __threadfence()
void __tsan_atomic_signal_fence(int) {}

KG_ACCESS(1)
KG_ACCESS(2)
KG_ACCESS(4)
KG_ACCESS(8)
KG_ACCESS(16)
void __tsan_read_range(void* p, std::size_t bytes) { accessed<Kind::read>(p, bytes, 1, KG_HERE); }
void __tsan_write_range(void* p, std::size_t bytes) { accessed<Kind::write>(p, bytes, 1, KG_HERE); }

KG_ATOMIC(8, unsigned char)
KG_ATOMIC(16, unsigned short)
KG_ATOMIC(32, unsigned int)
KG_ATOMIC(64, unsigned long)

} // extern "C"
