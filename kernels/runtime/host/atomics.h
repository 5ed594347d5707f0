// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Atomic functions on global and shared memory, and loads and stores with cache hints. All atomics
// are sequentially consistent, stronger than CUDA's relaxed atomics: the emulator does not detect a
// missing memory order. The _block and _system forms are the same function.
#pragma once

#include "runtime/host/bfloat16.h"
#include "runtime/host/forceinline.h"
#include "runtime/host/half.h"
#include "runtime/host/look.h"
#include "runtime/host/vector_types.h"

#include <bit>
#include <cstring>
#include <type_traits>

namespace kg::host {

template <std::size_t Bytes>
struct AtomicWord;
template <>
struct AtomicWord<2> {
  using Type = unsigned short;
};
template <>
struct AtomicWord<4> {
  using Type = unsigned int;
};
template <>
struct AtomicWord<8> {
  using Type = unsigned long long;
};

// Atomically replaces *address by update(old) and returns old. T: any trivially copyable type of 2,
// 4 or 8 bytes. Inlined, so that findings name the caller's line.
template <class T, class Update>
__forceinline__ T atomic_update(T* address, Update update, Location where) {
  using Word = typename AtomicWord<sizeof(T)>::Type;
  auto* word = reinterpret_cast<Word*>(address);
  Word before = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  for (;;) {
    T old;
    std::memcpy(static_cast<void*>(&old), &before, sizeof(T));
    const T value = update(old);
    Word after;
    std::memcpy(&after, &value, sizeof(T));
    if (__atomic_compare_exchange_n(word, &before, after, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST)) {
      updated(word, before, after != before, where);
      return old;
    }
  }
}

// __ldcg and __ldcv. They bypass the L1 cache, so programs poll with them; scalars are therefore
// read as if volatile.
template <class T>
__forceinline__ T load_past_l1(const T* address, Location where) {
  T value;
  if constexpr (std::is_scalar_v<T>)
    value = *const_cast<const volatile T*>(address);
  else
    value = *address;
  look(address, value, where);
  asm volatile("" ::: "memory"); // forces a loop to reload the value
  return value;
}

// Excludes the operand from template argument deduction: atomicAdd(&float_value, 1) means 1.0f, as
// in CUDA.
template <class T>
using Same = std::type_identity_t<T>;

} // namespace kg::host

template <class T>
__forceinline__ T atomicAdd(T* address, kg::host::Same<T> value,
                            kg::Location where = kg::Location::here()) {
  if constexpr (std::is_integral_v<T>) {
    const T old = __atomic_fetch_add(address, value, __ATOMIC_SEQ_CST);
    kg::host::updated(address, old, value != 0, where);
    return old;
  } else {
    return kg::host::atomic_update(
        address, [=](T old) -> T { return old + value; }, where);
  }
}
template <class T>
__forceinline__ T atomicSub(T* address, kg::host::Same<T> value,
                            kg::Location where = kg::Location::here()) {
  const T old = __atomic_fetch_sub(address, value, __ATOMIC_SEQ_CST);
  kg::host::updated(address, old, value != 0, where);
  return old;
}
template <class T>
__forceinline__ T atomicExch(T* address, kg::host::Same<T> value,
                             kg::Location where = kg::Location::here()) {
  return kg::host::atomic_update(
      address, [=](T) { return value; }, where);
}
template <class T>
__forceinline__ T atomicMin(T* address, kg::host::Same<T> value,
                            kg::Location where = kg::Location::here()) {
  return kg::host::atomic_update(
      address, [=](T old) { return value < old ? value : old; }, where);
}
template <class T>
__forceinline__ T atomicMax(T* address, kg::host::Same<T> value,
                            kg::Location where = kg::Location::here()) {
  return kg::host::atomic_update(
      address, [=](T old) { return old < value ? value : old; }, where);
}
template <class T>
__forceinline__ T atomicAnd(T* address, kg::host::Same<T> value,
                            kg::Location where = kg::Location::here()) {
  const T old = __atomic_fetch_and(address, value, __ATOMIC_SEQ_CST);
  kg::host::updated(address, old, (old & value) != old, where);
  return old;
}
template <class T>
__forceinline__ T atomicOr(T* address, kg::host::Same<T> value,
                           kg::Location where = kg::Location::here()) {
  const T old = __atomic_fetch_or(address, value, __ATOMIC_SEQ_CST);
  kg::host::updated(address, old, (old | value) != old, where);
  return old;
}
template <class T>
__forceinline__ T atomicXor(T* address, kg::host::Same<T> value,
                            kg::Location where = kg::Location::here()) {
  const T old = __atomic_fetch_xor(address, value, __ATOMIC_SEQ_CST);
  kg::host::updated(address, old, value != 0, where);
  return old;
}
inline unsigned atomicInc(unsigned* address, unsigned limit,
                          kg::Location where = kg::Location::here()) {
  return kg::host::atomic_update(
      address, [=](unsigned old) { return old >= limit ? 0 : old + 1; }, where);
}
inline unsigned atomicDec(unsigned* address, unsigned limit,
                          kg::Location where = kg::Location::here()) {
  return kg::host::atomic_update(
      address, [=](unsigned old) { return old == 0 || old > limit ? limit : old - 1; }, where);
}
// Compares bits, not values: a float NaN equals itself.
template <class T>
__forceinline__ T atomicCAS(T* address, kg::host::Same<T> compare, kg::host::Same<T> value,
                            kg::Location where = kg::Location::here()) {
  return kg::host::atomic_update(
      address, [=](T old) { return std::memcmp(&old, &compare, sizeof(T)) == 0 ? value : old; },
      where);
}

// Adds vectors element by element; the whole is not one atomic operation (CUDA C++ Programming
// Guide, "atomicAdd()").
__forceinline__ float2 atomicAdd(float2* address, float2 value,
                                 kg::Location where = kg::Location::here()) {
  return {atomicAdd(&address->x, value.x, where), atomicAdd(&address->y, value.y, where)};
}
__forceinline__ float4 atomicAdd(float4* address, float4 value,
                                 kg::Location where = kg::Location::here()) {
  return {atomicAdd(&address->x, value.x, where), atomicAdd(&address->y, value.y, where),
          atomicAdd(&address->z, value.z, where), atomicAdd(&address->w, value.w, where)};
}

template <class T>
__forceinline__ T atomicAdd_block(T* address, kg::host::Same<T> value,
                                  kg::Location where = kg::Location::here()) {
  return atomicAdd(address, value, where);
}
template <class T>
__forceinline__ T atomicSub_block(T* address, kg::host::Same<T> value,
                                  kg::Location where = kg::Location::here()) {
  return atomicSub(address, value, where);
}
template <class T>
__forceinline__ T atomicExch_block(T* address, kg::host::Same<T> value,
                                   kg::Location where = kg::Location::here()) {
  return atomicExch(address, value, where);
}
template <class T>
__forceinline__ T atomicMin_block(T* address, kg::host::Same<T> value,
                                  kg::Location where = kg::Location::here()) {
  return atomicMin(address, value, where);
}
template <class T>
__forceinline__ T atomicMax_block(T* address, kg::host::Same<T> value,
                                  kg::Location where = kg::Location::here()) {
  return atomicMax(address, value, where);
}
template <class T>
__forceinline__ T atomicAnd_block(T* address, kg::host::Same<T> value,
                                  kg::Location where = kg::Location::here()) {
  return atomicAnd(address, value, where);
}
template <class T>
__forceinline__ T atomicOr_block(T* address, kg::host::Same<T> value,
                                 kg::Location where = kg::Location::here()) {
  return atomicOr(address, value, where);
}
template <class T>
__forceinline__ T atomicXor_block(T* address, kg::host::Same<T> value,
                                  kg::Location where = kg::Location::here()) {
  return atomicXor(address, value, where);
}
inline unsigned atomicInc_block(unsigned* address, unsigned limit,
                                kg::Location where = kg::Location::here()) {
  return atomicInc(address, limit, where);
}
inline unsigned atomicDec_block(unsigned* address, unsigned limit,
                                kg::Location where = kg::Location::here()) {
  return atomicDec(address, limit, where);
}
template <class T>
__forceinline__ T atomicCAS_block(T* address, kg::host::Same<T> compare, kg::host::Same<T> value,
                                  kg::Location where = kg::Location::here()) {
  return atomicCAS(address, compare, value, where);
}
template <class T>
__forceinline__ T atomicAdd_system(T* address, kg::host::Same<T> value,
                                   kg::Location where = kg::Location::here()) {
  return atomicAdd(address, value, where);
}
template <class T>
__forceinline__ T atomicSub_system(T* address, kg::host::Same<T> value,
                                   kg::Location where = kg::Location::here()) {
  return atomicSub(address, value, where);
}
template <class T>
__forceinline__ T atomicExch_system(T* address, kg::host::Same<T> value,
                                    kg::Location where = kg::Location::here()) {
  return atomicExch(address, value, where);
}
template <class T>
__forceinline__ T atomicMin_system(T* address, kg::host::Same<T> value,
                                   kg::Location where = kg::Location::here()) {
  return atomicMin(address, value, where);
}
template <class T>
__forceinline__ T atomicMax_system(T* address, kg::host::Same<T> value,
                                   kg::Location where = kg::Location::here()) {
  return atomicMax(address, value, where);
}
template <class T>
__forceinline__ T atomicAnd_system(T* address, kg::host::Same<T> value,
                                   kg::Location where = kg::Location::here()) {
  return atomicAnd(address, value, where);
}
template <class T>
__forceinline__ T atomicOr_system(T* address, kg::host::Same<T> value,
                                  kg::Location where = kg::Location::here()) {
  return atomicOr(address, value, where);
}
template <class T>
__forceinline__ T atomicXor_system(T* address, kg::host::Same<T> value,
                                   kg::Location where = kg::Location::here()) {
  return atomicXor(address, value, where);
}
inline unsigned atomicInc_system(unsigned* address, unsigned limit,
                                 kg::Location where = kg::Location::here()) {
  return atomicInc(address, limit, where);
}
inline unsigned atomicDec_system(unsigned* address, unsigned limit,
                                 kg::Location where = kg::Location::here()) {
  return atomicDec(address, limit, where);
}
template <class T>
__forceinline__ T atomicCAS_system(T* address, kg::host::Same<T> compare, kg::host::Same<T> value,
                                   kg::Location where = kg::Location::here()) {
  return atomicCAS(address, compare, value, where);
}

// Loads and stores with cache hints. The host ignores the hints.
template <class T>
__forceinline__ T __ldg(const T* address, kg::Location where = kg::Location::here()) {
  if (kg::host::observer) kg::host::note_read_only(address, sizeof(T), where);
  return *address;
}
template <class T>
__forceinline__ T __ldca(const T* address) {
  return *address;
}
template <class T>
__forceinline__ T __ldcg(const T* address, kg::Location where = kg::Location::here()) {
  return kg::host::load_past_l1(address, where);
}
template <class T>
__forceinline__ T __ldcs(const T* address) {
  return *address;
}
template <class T>
__forceinline__ T __ldlu(const T* address) {
  return *address;
}
template <class T>
__forceinline__ T __ldcv(const T* address, kg::Location where = kg::Location::here()) {
  return kg::host::load_past_l1(address, where);
}
template <class T>
__forceinline__ void __stwb(T* address, kg::host::Same<T> value) {
  *address = value;
}
template <class T>
__forceinline__ void __stcg(T* address, kg::host::Same<T> value) {
  *address = value;
}
template <class T>
__forceinline__ void __stcs(T* address, kg::host::Same<T> value) {
  *address = value;
}
template <class T>
__forceinline__ void __stwt(T* address, kg::host::Same<T> value) {
  *address = value;
}
