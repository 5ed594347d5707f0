// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The functions of libcudart that fill or read CUDA's own structures, with the toolkit's headers.
// This file must not include the headers for user sources.
#include <cuda_runtime_api.h>

#include "cuda/binary/layouts.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace kg::emulate;

namespace {

Launch launch_of(const cudaLaunchConfig_t& given) {
  Launch launch{{given.gridDim.x, given.gridDim.y, given.gridDim.z},
                {given.blockDim.x, given.blockDim.y, given.blockDim.z},
                given.dynamicSmemBytes,
                given.stream};
  for (unsigned i = 0; i < given.numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = given.attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative)
      launch.cooperative = attribute.val.cooperative != 0;
    if (attribute.id == cudaLaunchAttributeClusterDimension) {
      launch.cluster[0] = attribute.val.clusterDim.x;
      launch.cluster[1] = attribute.val.clusterDim.y;
      launch.cluster[2] = attribute.val.clusterDim.z;
    }
  }
  return launch;
}

} // namespace

extern "C" {

[[gnu::visibility("default")]] cudaError_t cudaGetDeviceProperties(cudaDeviceProp* to, int device) {
  Device from;
  if (const int error = device_of(device, from)) return static_cast<cudaError_t>(error);
  *to = {};
  std::snprintf(to->name, sizeof to->name, "%s", from.name.c_str());
  const auto of = [device](cudaDeviceAttr attribute) {
    return attribute_of(static_cast<int>(attribute), device);
  };
  to->totalGlobalMem = from.global_bytes;
  to->sharedMemPerBlock = static_cast<std::size_t>(of(cudaDevAttrMaxSharedMemoryPerBlock));
  to->sharedMemPerBlockOptin =
      static_cast<std::size_t>(of(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  to->sharedMemPerMultiprocessor =
      static_cast<std::size_t>(of(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
  to->reservedSharedMemPerBlock =
      static_cast<std::size_t>(of(cudaDevAttrReservedSharedMemoryPerBlock));
  to->totalConstMem = static_cast<std::size_t>(of(cudaDevAttrTotalConstantMemory));
  to->memPitch = static_cast<std::size_t>(of(cudaDevAttrMaxPitch));
  to->textureAlignment = static_cast<std::size_t>(of(cudaDevAttrTextureAlignment));
  to->regsPerBlock = of(cudaDevAttrMaxRegistersPerBlock);
  to->regsPerMultiprocessor = of(cudaDevAttrMaxRegistersPerMultiprocessor);
  to->warpSize = of(cudaDevAttrWarpSize);
  to->maxThreadsPerBlock = of(cudaDevAttrMaxThreadsPerBlock);
  to->maxThreadsPerMultiProcessor = of(cudaDevAttrMaxThreadsPerMultiProcessor);
  to->maxBlocksPerMultiProcessor = of(cudaDevAttrMaxBlocksPerMultiprocessor);
  to->maxThreadsDim[0] = of(cudaDevAttrMaxBlockDimX);
  to->maxThreadsDim[1] = of(cudaDevAttrMaxBlockDimY);
  to->maxThreadsDim[2] = of(cudaDevAttrMaxBlockDimZ);
  to->maxGridSize[0] = of(cudaDevAttrMaxGridDimX);
  to->maxGridSize[1] = of(cudaDevAttrMaxGridDimY);
  to->maxGridSize[2] = of(cudaDevAttrMaxGridDimZ);
  to->major = of(cudaDevAttrComputeCapabilityMajor);
  to->minor = of(cudaDevAttrComputeCapabilityMinor);
  to->multiProcessorCount = of(cudaDevAttrMultiProcessorCount);
  to->l2CacheSize = of(cudaDevAttrL2CacheSize);
  to->asyncEngineCount = of(cudaDevAttrAsyncEngineCount);
  to->concurrentKernels = of(cudaDevAttrConcurrentKernels);
  to->concurrentManagedAccess = of(cudaDevAttrConcurrentManagedAccess);
  to->cooperativeLaunch = of(cudaDevAttrCooperativeLaunch);
  to->managedMemory = of(cudaDevAttrManagedMemory);
  to->unifiedAddressing = of(cudaDevAttrUnifiedAddressing);
  to->canMapHostMemory = of(cudaDevAttrCanMapHostMemory);
  to->memoryPoolsSupported = of(cudaDevAttrMemoryPoolsSupported);
  return cudaSuccess;
}

[[gnu::visibility("default")]] cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* to,
                                                                 const void* function) {
  Function from;
  if (const int error = function_of(function, from)) return static_cast<cudaError_t>(error);
  *to = {};
  to->sharedSizeBytes = from.static_shared_bytes;
  to->maxThreadsPerBlock = from.max_threads;
  to->ptxVersion = from.ptx_version; // CUB chooses its launch parameters by it
  to->binaryVersion = from.binary_version;
  to->maxDynamicSharedSizeBytes = from.max_dynamic_shared_bytes;
  return cudaSuccess;
}

[[gnu::visibility("default")]] cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* to,
                                                                    const void* pointer) {
  Pointer from;
  if (const int error = pointer_of(pointer, from)) return static_cast<cudaError_t>(error);
  *to = {};
  to->type = static_cast<cudaMemoryType>(from.type);
  to->device = from.device;
  to->devicePointer = from.device_pointer;
  to->hostPointer = from.host_pointer;
  return cudaSuccess;
}

[[gnu::visibility("default")]] cudaError_t
cudaLaunchKernelExC(const cudaLaunchConfig_t* given, const void* kernel, void** arguments) {
  return static_cast<cudaError_t>(run(launch_of(*given), kernel, arguments));
}

[[gnu::visibility("default")]] cudaError_t
cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* given, const void* kernel, void** arguments) {
  kg::foreign::use_per_thread_default_stream();
  return cudaLaunchKernelExC(given, kernel, arguments);
}

[[gnu::visibility("default")]] cudaError_t
cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel, const cudaLaunchConfig_t* given) {
  return static_cast<cudaError_t>(clusters_of(launch_of(*given), kernel, clusters));
}
}
