// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Allocates Thrust's device memory with cudaMallocManaged instead of operator new. Copies and
// checkers must treat it as device memory, and Thrust itself writes it on the host.
#pragma once

#include "cuda/source/api.h"
#include "runtime/host/device_memory.h"

#include <cstddef>
#include <new>
#include <thrust/mr/new.h>

namespace kg::foreign {

inline const bool reads_unseen = host::host_libraries_read = true;

class ThrustMemory final : public thrust::mr::memory_resource<> {
 public:
  void* do_allocate(std::size_t bytes, std::size_t) override {
    void* data = nullptr;
    if (cudaMallocManaged(&data, bytes) != cudaSuccess) throw std::bad_alloc();
    return data;
  }
  void do_deallocate(void* data, std::size_t, std::size_t) override { cudaFree(data); }
};

} // namespace kg::foreign

THRUST_NAMESPACE_BEGIN
namespace mr {
using kg_device_memory = ::kg::foreign::ThrustMemory;
}
THRUST_NAMESPACE_END

#define new_delete_resource kg_device_memory
#include <thrust/system/cpp/memory_resource.h>
#undef new_delete_resource

#include <thrust/detail/raw_pointer_cast.h>
#include <thrust/system/cpp/detail/execution_policy.h>
#include <thrust/system_error.h> // as in every header of Thrust's CUDA backend

// thrust::device_malloc and device_free also find these functions, by the system's tag type.
THRUST_NAMESPACE_BEGIN
namespace system::cpp::detail {
inline void* malloc(tag&, std::size_t bytes) {
  return ::kg::foreign::ThrustMemory().do_allocate(bytes, alignof(std::max_align_t));
}
template <class Pointer>
void free(tag&, Pointer data) {
  cudaFree(thrust::raw_pointer_cast(data));
}
} // namespace system::cpp::detail
THRUST_NAMESPACE_END
