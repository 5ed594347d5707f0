// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Communication with the other threads of the block: barriers, fences, waiting, traps.
#pragma once

#include "runtime/host/block.h"

#include <cstddef>
#include <string>

namespace kg {

// The block's dynamic shared memory, offset by `byte_offset`, as an array of T. Aligned to 1024
// bytes.
template <class T>
inline T* dynamic_shared(std::size_t byte_offset = 0, Location where = Location::here()) {
  unsigned char* base = host::running_block("kg::dynamic_shared", where).shared_memory();
  return reinterpret_cast<T*>(base + byte_offset);
}

// The address of a __device__ or __constant__ variable, for copies to and from it; for an array,
// the address of its first element.
template <class T>
T* symbol_address(T& symbol) {
  return &symbol;
}
template <class T, std::size_t N>
T* symbol_address(T (&symbol)[N]) {
  return symbol;
}

} // namespace kg

inline void __syncthreads(kg::Location where = kg::Location::here()) {
  kg::host::running_block("__syncthreads", where).barrier("__syncthreads", where);
}
inline int __syncthreads_count(int predicate, kg::Location where = kg::Location::here()) {
  auto& block = kg::host::running_block("__syncthreads_count", where);
  return static_cast<int>(block.vote(predicate != 0, "__syncthreads_count", where).count);
}
inline int __syncthreads_and(int predicate, kg::Location where = kg::Location::here()) {
  auto& block = kg::host::running_block("__syncthreads_and", where);
  return static_cast<int>(block.vote(predicate != 0, "__syncthreads_and", where).all);
}
inline int __syncthreads_or(int predicate, kg::Location where = kg::Location::here()) {
  auto& block = kg::host::running_block("__syncthreads_or", where);
  return static_cast<int>(block.vote(predicate != 0, "__syncthreads_or", where).any);
}

inline void __threadfence_block() { kg::host::fence(true); }
inline void __threadfence() { kg::host::fence(false); }
inline void __threadfence_system() { kg::host::fence(false); }

// Required in loops that wait for another thread of the block: threads are not preempted.
inline void __nanosleep(unsigned, kg::Location where = kg::Location::here()) {
  kg::host::running_block("__nanosleep", where).yield("__nanosleep", where);
}

[[noreturn]] inline void __trap(kg::Location where = kg::Location::here()) {
  kg::host::running_block("__trap", where).trap("__trap() was called", where);
}

// Nanoseconds of the host's steady clock instead of SM cycles.
long long clock64();
