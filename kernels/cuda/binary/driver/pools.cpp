// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory pools.
#include "cuda/binary/driver/call.h"

using namespace kg::emulate;

namespace {

// A function of the runtime API that needs no context.
template <class Function, class... Arguments>
CUresult after(Function function, Arguments... arguments) {
  return initialised() ? initialised() : code_of(function(arguments...));
}

cudaMemLocation location_of(const CUmemLocation& given) {
  return {static_cast<cudaMemLocationType>(given.type), given.id};
}

} // namespace

KG_DRIVER cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return pool ? after(cudaDeviceGetDefaultMemPool, pool, device) : CUDA_ERROR_INVALID_VALUE;
}
KG_DRIVER cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return pool ? after(cudaDeviceGetMemPool, pool, device) : CUDA_ERROR_INVALID_VALUE;
}
KG_DRIVER cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return after(cudaDeviceSetMemPool, device, pool);
}
KG_DRIVER cuMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* given,
                                 CUmemAllocationType type) {
  if (!pool || !given) return CUDA_ERROR_INVALID_VALUE;
  cudaMemLocation location = location_of(*given);
  return after(cudaMemGetDefaultMemPool, pool, &location, static_cast<cudaMemAllocationType>(type));
}
KG_DRIVER cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* given, CUmemAllocationType type) {
  if (!pool || !given) return CUDA_ERROR_INVALID_VALUE;
  cudaMemLocation location = location_of(*given);
  return after(cudaMemGetMemPool, pool, &location, static_cast<cudaMemAllocationType>(type));
}
KG_DRIVER cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* given) {
  if (!pool || !given) return CUDA_ERROR_INVALID_VALUE;
  cudaMemPoolProps properties{};
  properties.allocType = static_cast<cudaMemAllocationType>(given->allocType);
  properties.location = location_of(given->location);
  return after(cudaMemPoolCreate, pool, &properties);
}
KG_DRIVER cuMemPoolDestroy(CUmemoryPool pool) { return after(cudaMemPoolDestroy, pool); }
KG_DRIVER cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return after(cudaMemPoolSetAttribute, pool, static_cast<cudaMemPoolAttr>(attribute), value);
}
KG_DRIVER cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return after(cudaMemPoolGetAttribute, pool, static_cast<cudaMemPoolAttr>(attribute), value);
}
KG_DRIVER cuMemPoolTrimTo(CUmemoryPool pool, std::size_t bytes) {
  return after(cudaMemPoolTrimTo, pool, bytes);
}

// The device and the host can access the memory of each pool.
KG_DRIVER cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* map, std::size_t count) {
  if (!map && count > 0) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i)
    if (map[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE && map[i].location.id != 0)
      return CUDA_ERROR_INVALID_DEVICE;
  return after(cudaMemPoolTrimTo, pool, std::size_t{0});
}
KG_DRIVER cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location) {
  if (!flags || !location) return CUDA_ERROR_INVALID_VALUE;
  *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return after(cudaMemPoolTrimTo, pool, std::size_t{0});
}
