// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Pointers into shared memory, kept as the 32-bit addresses that instructions take.
#pragma once

#include "instructions/opaque.h"
#include "instructions/shared_address.h"
#include "runtime/device_code.h"

namespace kg::ptx {

#if KG_BACKEND_CUDA

// The parameter of the instructions' wrappers, constructed from either kind of pointer.
struct SharedAddress {
  unsigned value;
  __device__ __forceinline__ SharedAddress(const void* address) : value(shared_address(address)) {}
  __device__ __forceinline__ explicit SharedAddress(unsigned address) : value(address) {}
};

// A pointer into shared memory that is computed once and kept in one register. For other pointers,
// nvcc (13.0) recomputes the block's window from a special register in every iteration of a loop,
// which takes tens of clocks.
template <class T>
class SharedPointer {
 public:
  SharedPointer() = default;
  __device__ __forceinline__ SharedPointer(T* pointer) : address_(shared_address(pointer)) {
    make_opaque(address_);
  }
  __device__ __forceinline__ SharedPointer operator+(int elements) const {
    SharedPointer sum;
    sum.address_ = address_ + static_cast<unsigned>(elements) * static_cast<unsigned>(sizeof(T));
    return sum;
  }
  __device__ __forceinline__ SharedPointer& operator+=(int elements) {
    return *this = *this + elements;
  }
  __device__ __forceinline__ T& operator[](int element) const {
    return *static_cast<T*>(__cvta_shared_to_generic((*this + element).address_));
  }
  __device__ __forceinline__ operator SharedAddress() const { return SharedAddress(address_); }

 private:
  unsigned address_;
};

#else

template <class T>
using SharedPointer = T*;

#endif

} // namespace kg::ptx
