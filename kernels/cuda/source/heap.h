// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The heap in device code: the rewriter replaces malloc, free, new and delete with these.
// The memory comes from cudaMalloc, so that the checkers watch it, and has no size limit.
#pragma once

#include "cuda/source/api.h"

#include <cstddef>
#include <type_traits>

namespace kg::foreign {

inline void* heap_malloc(std::size_t bytes) {
  void* data = nullptr;
  return cudaMalloc(&data, bytes) == cudaSuccess ? data : nullptr;
}
inline void heap_free(void* data) { cudaFree(data); }

// new (heap) T(...) allocates. heap->* pointer deletes: ->* takes the same operand as delete.
inline constexpr struct Heap {
} heap;
inline constexpr struct HeapArrays {
} heap_arrays;

template <class T>
void operator->*(Heap, T* object) {
  if (!object) return;
  void* whole = const_cast<std::remove_cv_t<T>*>(object);
  if constexpr (std::is_polymorphic_v<T>) whole = dynamic_cast<void*>(object); // maybe a base class
  object->~T();
  heap_free(whole);
}
template <class T>
void operator->*(HeapArrays, T* objects) {
  static_assert(std::is_trivially_destructible_v<T>,
                "Kernelgrade: delete[] in device code runs on the CPU emulator for elements "
                "without a destructor");
  heap_free(objects);
}

} // namespace kg::foreign

inline void* operator new(std::size_t bytes, kg::foreign::Heap) noexcept {
  return kg::foreign::heap_malloc(bytes);
}
inline void* operator new[](std::size_t bytes, kg::foreign::Heap) noexcept {
  return kg::foreign::heap_malloc(bytes);
}
// For constructors that throw. Device code has none, but compilers require these functions.
inline void operator delete(void* data, kg::foreign::Heap) noexcept {
  kg::foreign::heap_free(data);
}
inline void operator delete[](void* data, kg::foreign::Heap) noexcept {
  kg::foreign::heap_free(data);
}
