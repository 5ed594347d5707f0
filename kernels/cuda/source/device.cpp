// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/source/state.h"

#include "runtime/device.h"
#include "runtime/host/block.h"
#include "runtime/host/virtual_device.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>

namespace kg::foreign {
namespace {

using namespace kg::host;

// Other limits of compute capabilities 8.0 and 9.0 (CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability").
constexpr int kRegisters = 65536;
constexpr int kBlocksPerSm = 32;
constexpr int kConstantBytes = 64 * 1024;
constexpr int kWarp = 32;

std::atomic<std::size_t> allowed_shared = kSharedBytesDefault;
std::atomic<bool> shared_asked = false;

cudaDeviceProp properties() {
  const DeviceProperties& device = device_properties();
  cudaDeviceProp p{};
  std::snprintf(p.name, sizeof p.name, "Kernelgrade %s", device.name.c_str());
  p.totalGlobalMem = device.global_bytes;
  p.sharedMemPerBlock = device.shared_bytes_per_block;
  p.sharedMemPerBlockOptin = device.shared_bytes_per_block_optin;
  p.sharedMemPerMultiprocessor = device.shared_bytes_per_sm;
  p.reservedSharedMemPerBlock = kReservedSharedBytes;
  p.totalConstMem = kConstantBytes;
  p.memPitch = 2147483647;
  p.textureAlignment = 512;
  p.regsPerBlock = p.regsPerMultiprocessor = kRegisters;
  p.warpSize = device.warp_size;
  p.maxThreadsPerBlock = device.max_threads_per_block;
  p.maxThreadsPerMultiProcessor = device.max_threads_per_sm;
  p.maxBlocksPerMultiProcessor = kBlocksPerSm;
  p.maxThreadsDim[0] = p.maxThreadsDim[1] = device.max_threads_per_block;
  p.maxThreadsDim[2] = kMaxBlockZ;
  p.maxGridSize[0] = device.max_grid_x;
  p.maxGridSize[1] = p.maxGridSize[2] = device.max_grid_yz;
  p.major = device.compute_major;
  p.minor = device.compute_minor;
  p.multiProcessorCount = device.sm_count;
  p.l2CacheSize = static_cast<int>(device.l2_bytes);
  p.streamPrioritiesSupported = p.asyncEngineCount = p.concurrentKernels =
      p.concurrentManagedAccess = p.cooperativeLaunch = 1;
  p.managedMemory = p.unifiedAddressing = p.canMapHostMemory = 1;
  p.directManagedMemAccessFromHost = p.hostNativeAtomicSupported = p.memoryPoolsSupported = 1;
  p.hostRegisterSupported = p.canUseHostPointerForRegisteredMem = p.clusterLaunch = 1;
  p.deviceOverlap = 1;
  p.persistingL2CacheMaxSize = p.accessPolicyMaxWindowSize = p.l2CacheSize / 4 * 3;
  return p;
}

int attribute_of(const cudaDeviceProp& p, cudaDeviceAttr attribute) {
  switch (attribute) {
  case cudaDevAttrMaxThreadsPerBlock: return p.maxThreadsPerBlock;
  case cudaDevAttrMaxBlockDimX: return p.maxThreadsDim[0];
  case cudaDevAttrMaxBlockDimY: return p.maxThreadsDim[1];
  case cudaDevAttrMaxBlockDimZ: return p.maxThreadsDim[2];
  case cudaDevAttrMaxGridDimX: return p.maxGridSize[0];
  case cudaDevAttrMaxGridDimY: return p.maxGridSize[1];
  case cudaDevAttrMaxGridDimZ: return p.maxGridSize[2];
  case cudaDevAttrMaxSharedMemoryPerBlock: return static_cast<int>(p.sharedMemPerBlock);
  case cudaDevAttrTotalConstantMemory: return static_cast<int>(p.totalConstMem);
  case cudaDevAttrWarpSize: return p.warpSize;
  case cudaDevAttrMaxRegistersPerBlock: return p.regsPerBlock;
  case cudaDevAttrMaxPitch: return static_cast<int>(p.memPitch);
  case cudaDevAttrTextureAlignment: return static_cast<int>(p.textureAlignment);
  case cudaDevAttrMultiProcessorCount: return p.multiProcessorCount;
  case cudaDevAttrAsyncEngineCount:
  case cudaDevAttrGpuOverlap:
  case cudaDevAttrClusterLaunch:
  case cudaDevAttrDirectManagedMemAccessFromHost:
  case cudaDevAttrHostNativeAtomicSupported:
  case cudaDevAttrHostRegisterSupported:
  case cudaDevAttrCanUseHostPointerForRegisteredMem:
  case cudaDevAttrCanMapHostMemory:
  case cudaDevAttrConcurrentKernels:
  case cudaDevAttrStreamPrioritiesSupported:
  case cudaDevAttrUnifiedAddressing:
  case cudaDevAttrManagedMemory:
  case cudaDevAttrConcurrentManagedAccess:
  case cudaDevAttrCooperativeLaunch:
  case cudaDevAttrMemoryPoolsSupported:
  case cudaDevAttrHostMemoryPoolsSupported: return 1;
  case cudaDevAttrL2CacheSize: return p.l2CacheSize;
  case cudaDevAttrMaxPersistingL2CacheSize: return p.persistingL2CacheMaxSize;
  case cudaDevAttrMaxAccessPolicyWindowSize: return p.accessPolicyMaxWindowSize;
  case cudaDevAttrMaxThreadsPerMultiProcessor: return p.maxThreadsPerMultiProcessor;
  case cudaDevAttrComputeCapabilityMajor: return p.major;
  case cudaDevAttrComputeCapabilityMinor: return p.minor;
  case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
    return static_cast<int>(p.sharedMemPerMultiprocessor);
  case cudaDevAttrMaxRegistersPerMultiprocessor: return p.regsPerMultiprocessor;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin: return static_cast<int>(p.sharedMemPerBlockOptin);
  case cudaDevAttrMaxBlocksPerMultiprocessor: return p.maxBlocksPerMultiProcessor;
  case cudaDevAttrReservedSharedMemoryPerBlock:
    return static_cast<int>(p.reservedSharedMemPerBlock);
  default: break;
  }
  demand(attribute > 0 && attribute <= cudaDevAttrOnlyPartialHostNativeAtomicSupported,
         cudaErrorInvalidValue, "attribute " + std::to_string(attribute));
  return 0; // absent from the virtual device, or unknown on a CPU
}

} // namespace

void demand_device(int device) {
  demand(device == 0, cudaErrorInvalidDevice,
         "device " + std::to_string(device) + "; there is one, number 0");
}

std::size_t allowed_dynamic_shared() { return allowed_shared; }
bool asks_for_dynamic_shared() { return shared_asked; }
void forget_attributes() {
  allowed_shared = kSharedBytesDefault;
  shared_asked = false;
}

cudaError_t set_function_attribute(cudaFuncAttribute attribute, int value) {
  return call("cudaFuncSetAttribute", [&] {
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return; // hints
    const std::size_t most = device_properties().shared_bytes_per_block_optin;
    demand(value >= 0 && static_cast<std::size_t>(value) <= most, cudaErrorInvalidValue,
           std::to_string(value) + " bytes of dynamic shared memory; a block may have " +
               std::to_string(most));
    allowed_shared = std::max<std::size_t>(allowed_shared, static_cast<std::size_t>(value));
    shared_asked = true;
  });
}

cudaError_t function_attributes(cudaFuncAttributes* attributes) {
  return call("cudaFuncGetAttributes", [&] {
    *attributes = {};
    attributes->maxThreadsPerBlock = kMaxThreadsPerBlock;
    attributes->ptxVersion = attributes->binaryVersion = compute_capability();
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(allowed_dynamic_shared());
  });
}

cudaError_t active_blocks(int* blocks, int threads, std::size_t dynamic_shared) {
  return call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [&] {
    demand(threads > 0, cudaErrorInvalidValue, "a block of " + std::to_string(threads));
    *blocks = 0;
    const DeviceProperties& device = device_properties();
    if (threads > kMaxThreadsPerBlock || dynamic_shared > device.shared_bytes_per_block_optin)
      return;
    // Not more than a cooperative launch may have: programs compute its grid from this number.
    *blocks = std::min(resident_blocks_per_sm(static_cast<unsigned>(threads), dynamic_shared,
                                              device.shared_bytes_per_sm),
                       kMaxCooperativeBlocks / kSmCount);
  });
}

} // namespace kg::foreign

using namespace kg::foreign;

cudaError_t cudaGetDeviceCount(int* count) {
  return call("cudaGetDeviceCount", [&] { *count = 1; });
}
cudaError_t cudaGetDevice(int* device) {
  return call("cudaGetDevice", [&] { *device = 0; });
}
cudaError_t cudaSetDevice(int device) {
  return call("cudaSetDevice", [&] { demand_device(device); });
}
cudaError_t cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }
cudaError_t cudaSetDeviceFlags(unsigned) { return fault(); }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* target, int device) {
  return call("cudaGetDeviceProperties", [&] {
    demand_device(device);
    *target = properties();
  });
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return call("cudaDeviceGetAttribute", [&] {
    demand_device(device);
    *value = attribute_of(properties(), attribute);
  });
}
cudaError_t cudaDeviceSynchronize() {
  if (kg::host::current_block)
    kg::host::current_block->trap("cudaDeviceSynchronize in device code, which CUDA 12 took away; "
                                  "wait for the grid's kernels on the host",
                                  kg::Location::here());
  return call("cudaDeviceSynchronize", [] {
    kg::synchronize_device();
    note_wait_for_all();
  });
}
cudaError_t cudaDeviceReset() {
  forget_errors();
  forget_attributes();
  note_wait_for_all();
  destroy_streams();
  free_all_memory();
  return cudaSuccess;
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return fault(); }
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return fault(); }
cudaError_t cudaDeviceSetLimit(cudaLimit, std::size_t) { return fault(); }
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  return call("cudaDeviceGetLimit", [&] {
    demand(limit == cudaLimitStackSize || limit == cudaLimitPrintfFifoSize ||
               limit == cudaLimitMallocHeapSize,
           cudaErrorNotSupported, "limit " + std::to_string(limit));
    constexpr std::size_t kStack = 1024, kPrintf = 1 << 20, kHeap = 8 << 20; // a GPU's defaults
    *value = limit == cudaLimitStackSize        ? kStack
             : limit == cudaLimitPrintfFifoSize ? kPrintf
                                                : kHeap;
  });
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
  return call("cudaDeviceGetPCIBusId", [&] {
    demand_device(device);
    std::snprintf(text, static_cast<std::size_t>(bytes), "0000:00:00.0");
  });
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call("cudaDeviceGetStreamPriorityRange", [&] {
    if (least) *least = kLeastPriority;
    if (greatest) *greatest = kGreatestPriority;
  });
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  return call("cudaDeviceCanAccessPeer", [&] { *can = 0; });
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  return call("cudaDeviceEnablePeerAccess", [&] {
    throw Refusal(cudaErrorInvalidDevice, "device " + std::to_string(peer) + "; there is one");
  });
}
cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return call("cudaDeviceDisablePeerAccess", [&] {
    throw Refusal(cudaErrorPeerAccessNotEnabled, "to device " + std::to_string(peer));
  });
}
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) { return cudaGetDevice(device); }
cudaError_t cudaDriverGetVersion(int* version) {
  return call("cudaDriverGetVersion", [&] { *version = CUDART_VERSION; });
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  return call("cudaRuntimeGetVersion", [&] { *version = CUDART_VERSION; });
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call("cudaMemGetInfo", [&] {
    *free = kg::device_free_bytes();
    *total = kg::device_properties().global_bytes;
  });
}
