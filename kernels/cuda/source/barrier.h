// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cuda::barrier (libcu++) at block scope, and the asynchronous copies that it waits for.
#pragma once

#include "runtime/device_code.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace cuda {

using kg::Location;

enum thread_scope {
  thread_scope_system,
  thread_scope_device,
  thread_scope_block,
  thread_scope_thread = 10,
};

// A size that is a multiple of `Alignment`. Both addresses have this alignment.
template <std::size_t Alignment>
struct aligned_size_t {
  explicit aligned_size_t(std::size_t bytes) : value(bytes) {}
  operator std::size_t() const { return value; }
  std::size_t value;
};

template <thread_scope Scope>
class barrier {
  static_assert(
      Scope == thread_scope_block,
      "Kernelgrade: a cuda::barrier runs on the CPU emulator with thread_scope_block only; "
      "use a cooperative grid's sync()");

 public:
  using arrival_token = std::uint64_t;

  arrival_token arrive(std::ptrdiff_t count = 1, Location where = Location::here()) {
    return kg::host::mbarrier_arrive(&word_, static_cast<unsigned>(count), 0, where);
  }
  void wait(arrival_token token, Location where = Location::here()) {
    kg::host::mbarrier_wait(&word_, kg::host::mbarrier_parity(token), where);
  }
  void arrive_and_wait(Location where = Location::here()) { wait(arrive(1, where), where); }
  void arrive_and_drop(Location where = Location::here()) {
    kg::host::mbarrier_arrive_drop(&word_, where);
  }

  friend void init(barrier* self, std::ptrdiff_t count, Location where = Location::here()) {
    kg::host::mbarrier_init(&self->word_, static_cast<unsigned>(count), where);
  }
  friend std::uint64_t* barrier_native_handle(barrier& self) { return &self.word_; }

 private:
  std::uint64_t word_; // in shared memory: no constructor
};

namespace detail {

// Copies the 16-byte chunks that belong to the thread of this rank.
inline void copy_pieces(void* to, const void* from, std::size_t bytes, std::size_t rank,
                        std::size_t ranks, Location where) {
  constexpr std::size_t kPiece = 16;
  for (std::size_t at = kPiece * rank; at < bytes; at += kPiece * ranks) {
    kg::host::async_copy_unaligned(static_cast<unsigned char*>(to) + at,
                                   static_cast<const unsigned char*>(from) + at,
                                   std::min(kPiece, bytes - at), "cuda::memcpy_async", where);
  }
}

} // namespace detail

// The barrier's phase completes only after the copies have arrived.
template <class T>
void memcpy_async(T* to, const T* from, std::size_t bytes, barrier<thread_scope_block>& on,
                  Location where = Location::here()) {
  detail::copy_pieces(to, from, bytes, 0, 1, where);
  kg::host::async_arrive(barrier_native_handle(on), false, "cuda::memcpy_async", where);
}
template <class Group, class T>
void memcpy_async(const Group& group, T* to, const T* from, std::size_t bytes,
                  barrier<thread_scope_block>& on, Location where = Location::here()) {
  detail::copy_pieces(to, from, bytes, group.thread_rank(), group.size(), where);
  kg::host::async_arrive(barrier_native_handle(on), false, "cuda::memcpy_async", where);
}

} // namespace cuda
