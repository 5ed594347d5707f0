// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory allocation and pointer queries.
#include "cuda/binary/driver/call.h"

namespace kg::emulate {
namespace {

// `made` is a reference, because the call that returns `error` sets it.
CUresult allocated(cudaError_t error, void* const& made, CUdeviceptr* address) {
  if (error == cudaSuccess) *address = reinterpret_cast<CUdeviceptr>(made);
  return code_of(error);
}

// The range that contains `address`, for the calling function. Refuses any other address.
foreign::Range range_at(CUdeviceptr address) {
  const foreign::Range range = foreign::range_of(pointer_to(address));
  demand(range.type != cudaMemoryTypeUnregistered, CUDA_ERROR_INVALID_VALUE,
         "the address is not in memory that was allocated or registered");
  return range;
}

template <class T>
void put(void* to, T value) {
  *static_cast<T*>(to) = value;
}

void attribute_of(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  demand_pointer(data, "data");
  const foreign::Range range = range_at(address);
  const bool device = range.type == cudaMemoryTypeDevice;
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT: {
    CUcontext context = nullptr;
    cuCtxGetCurrent(&context);
    return put(data, context);
  }
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    return put<unsigned>(data, range.type == cudaMemoryTypeHost ? CU_MEMORYTYPE_HOST
                                                                : CU_MEMORYTYPE_DEVICE);
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return put(data, address);
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    demand(!device, CUDA_ERROR_INVALID_VALUE, "memory of the device has no host pointer");
    return put(data, pointer_to(address));
  case CU_POINTER_ATTRIBUTE_BUFFER_ID: return put<unsigned long long>(data, range.begin);
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    return put<unsigned>(data, range.type == cudaMemoryTypeManaged);
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return put(data, 0);
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: return put<CUdeviceptr>(data, range.begin);
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return put(data, range.bytes);
  case CU_POINTER_ATTRIBUTE_MAPPED: return put(data, true);
  case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
  case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
  case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: return put(data, 0);
  default: break;
  }
  refuse(CUDA_ERROR_INVALID_VALUE, "attribute " + std::to_string(attribute));
}

} // namespace
} // namespace kg::emulate

using namespace kg::emulate;

KG_DRIVER cuMemGetInfo(std::size_t* free, std::size_t* total) {
  if (!free || !total) return CUDA_ERROR_INVALID_VALUE;
  return by_runtime(cudaMemGetInfo, free, total);
}
KG_DRIVER cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  if (const CUresult missing = in_context()) return missing;
  if (!address || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  void* made = nullptr;
  return allocated(cudaMalloc(&made, bytes), made, address);
}
KG_DRIVER cuMemAllocPitch(CUdeviceptr* address, std::size_t* pitch, std::size_t width,
                          std::size_t height, unsigned) {
  if (const CUresult missing = in_context()) return missing;
  if (!address || !pitch || width == 0 || height == 0) return CUDA_ERROR_INVALID_VALUE;
  void* made = nullptr;
  return allocated(cudaMallocPitch(&made, pitch, width, height), made, address);
}
KG_DRIVER cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned flags) {
  if (const CUresult missing = in_context()) return missing;
  if (!address || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  void* made = nullptr;
  return allocated(cudaMallocManaged(&made, bytes, flags), made, address);
}
KG_DRIVER cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  if (const CUresult missing = in_context()) return missing;
  if (!address || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  void* made = nullptr;
  return allocated(cudaMallocAsync(&made, bytes, stream), made, address);
}
KG_DRIVER cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool,
                                  CUstream stream) {
  if (const CUresult missing = in_context()) return missing;
  if (!address || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  void* made = nullptr;
  return allocated(cudaMallocFromPoolAsync(&made, bytes, pool, stream), made, address);
}
KG_DRIVER cuMemFree(CUdeviceptr address) { return by_runtime(cudaFree, pointer_to(address)); }
KG_DRIVER cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  if (!address) return CUDA_ERROR_INVALID_VALUE;
  return by_runtime(cudaFreeAsync, pointer_to(address), stream);
}

// --- Host memory

KG_DRIVER cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  if (const CUresult missing = in_context()) return missing;
  if (!pointer || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  return code_of(cudaHostAlloc(pointer, bytes, flags));
}
KG_DRIVER cuMemAllocHost(void** pointer, std::size_t bytes) {
  return cuMemHostAlloc(pointer, bytes, 0);
}
KG_DRIVER cuMemFreeHost(void* pointer) {
  if (!pointer) return CUDA_ERROR_INVALID_VALUE;
  return by_runtime(cudaFreeHost, pointer);
}
KG_DRIVER cuMemHostGetDevicePointer(CUdeviceptr* address, void* host, unsigned flags) {
  if (const CUresult missing = in_context()) return missing;
  if (!address) return CUDA_ERROR_INVALID_VALUE;
  void* seen = nullptr;
  return allocated(cudaHostGetDevicePointer(&seen, host, flags), seen, address);
}
KG_DRIVER cuMemHostGetFlags(unsigned* flags, void* host) {
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  return by_runtime(cudaHostGetFlags, flags, host);
}
KG_DRIVER cuMemHostRegister(void* host, std::size_t bytes, unsigned flags) {
  return by_runtime(cudaHostRegister, host, bytes, flags);
}
KG_DRIVER cuMemHostUnregister(void* host) { return by_runtime(cudaHostUnregister, host); }

// --- Pointer queries

KG_DRIVER cuMemGetAddressRange(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address) {
  return driver("cuMemGetAddressRange", [&] {
    const kg::foreign::Range range = kg::foreign::range_of(pointer_to(address));
    demand(range.type != cudaMemoryTypeUnregistered, CUDA_ERROR_NOT_FOUND,
           "the address is not in device memory");
    if (base) *base = range.begin;
    if (bytes) *bytes = range.bytes;
  });
}
KG_DRIVER cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  return driver("cuPointerGetAttribute", [&] { attribute_of(data, attribute, address); });
}
// For a pointer that CUDA does not know: zeros, and -2 as the device ordinal.
KG_DRIVER cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** data,
                                 CUdeviceptr address) {
  return driver("cuPointerGetAttributes", [&] {
    demand_pointer(attributes, "attributes");
    demand_pointer(data, "data");
    const bool known =
        kg::foreign::range_of(pointer_to(address)).type != cudaMemoryTypeUnregistered;
    for (unsigned i = 0; i < count; ++i) {
      const bool host = attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER;
      const bool none =
          host && kg::foreign::range_of(pointer_to(address)).type == cudaMemoryTypeDevice;
      if (known && !none)
        attribute_of(data[i], attributes[i], address);
      else if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
        put(data[i], -2);
      else if (attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE ||
               attributes[i] == CU_POINTER_ATTRIBUTE_IS_MANAGED)
        put(data[i], 0u);
      else if (attributes[i] == CU_POINTER_ATTRIBUTE_MAPPED)
        put(data[i], false);
      else
        put<void*>(data[i], nullptr);
    }
  });
}

// --- Hints

KG_DRIVER cuMemAdvise(CUdeviceptr address, std::size_t bytes, CUmem_advise advice,
                      CUmemLocation location) {
  return in_context()
             ? in_context()
             : code_of(cudaMemAdvise(
                   pointer_to(address), bytes, static_cast<cudaMemoryAdvise>(advice),
                   cudaMemLocation{static_cast<cudaMemLocationType>(location.type), location.id}));
}
KG_DRIVER cuMemPrefetchAsync(CUdeviceptr address, std::size_t bytes, CUmemLocation location,
                             unsigned flags, CUstream stream) {
  return in_context()
             ? in_context()
             : code_of(cudaMemPrefetchAsync(
                   pointer_to(address), bytes,
                   cudaMemLocation{static_cast<cudaMemLocationType>(location.type), location.id},
                   flags, stream));
}
#undef cuMemAdvise // both before CUDA 12.2
#undef cuMemPrefetchAsync
KG_DRIVER cuMemAdvise(CUdeviceptr address, std::size_t bytes, CUmem_advise advice,
                      CUdevice device) {
  return in_context() ? in_context()
                      : code_of(cudaMemAdvise(pointer_to(address), bytes,
                                              static_cast<cudaMemoryAdvise>(advice), device));
}
KG_DRIVER cuMemPrefetchAsync(CUdeviceptr address, std::size_t bytes, CUdevice device,
                             CUstream stream) {
  return in_context() ? in_context()
                      : code_of(cudaMemPrefetchAsync(pointer_to(address), bytes, device, stream));
}
