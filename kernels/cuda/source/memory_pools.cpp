// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory pools. A pool only keeps its settings. The memory comes from cudaMalloc and is released
// when it is freed, so that accesses to freed memory are detected.
#include "cuda/source/state.h"

#include <memory>

struct CUmemPoolHandle_st {
  cudaMemoryType type = cudaMemoryTypeDevice;
  std::map<cudaMemPoolAttr, std::uint64_t> attributes{};
};

namespace kg::foreign {
namespace {

struct Pools {
  std::mutex mutex;
  CUmemPoolHandle_st standard;
  CUmemPoolHandle_st managed{.type = cudaMemoryTypeManaged};
  CUmemPoolHandle_st host{.type = cudaMemoryTypeHost};
  cudaMemPool_t current = &standard;
  std::map<cudaMemPool_t, std::unique_ptr<CUmemPoolHandle_st>> created;

  void demand_pool(cudaMemPool_t pool) const {
    demand(pool == &standard || pool == &managed || pool == &host || created.count(pool) == 1,
           cudaErrorInvalidValue, "this is not a memory pool, or it has been destroyed");
  }
};

Pools& pools() {
  static auto& instance = *new Pools;
  return instance;
}

// Three attributes are ints, the others have 64 bits.
bool is_flag(cudaMemPoolAttr attribute) {
  demand(attribute >= cudaMemPoolReuseFollowEventDependencies &&
             attribute <= cudaMemPoolAttrUsedMemHigh,
         cudaErrorInvalidValue, "attribute " + std::to_string(attribute));
  return attribute <= cudaMemPoolReuseAllowInternalDependencies;
}

cudaMemoryType type_of(cudaMemAllocationType type, const cudaMemLocation& location) {
  if (type == cudaMemAllocationTypeManaged) return cudaMemoryTypeManaged;
  demand(type == cudaMemAllocationTypePinned, cudaErrorInvalidValue,
         "allocation type " + std::to_string(type) + "; a pool is of pinned or managed memory");
  if (location.type != cudaMemLocationTypeDevice) {
    demand(location.type >= cudaMemLocationTypeHost &&
               location.type <= cudaMemLocationTypeHostNumaCurrent,
           cudaErrorInvalidValue, "location " + std::to_string(location.type));
    return cudaMemoryTypeHost;
  }
  demand_device(location.id);
  return cudaMemoryTypeDevice;
}

cudaMemPool_t standard_pool(cudaMemoryType type) {
  return type == cudaMemoryTypeManaged ? &pools().managed
         : type == cudaMemoryTypeHost  ? &pools().host
                                       : &pools().standard;
}

} // namespace
} // namespace kg::foreign

using namespace kg::foreign;

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return call("cudaDeviceGetDefaultMemPool", [&] {
    demand_device(device);
    *pool = &pools().standard;
  });
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return call("cudaDeviceGetMemPool", [&] {
    demand_device(device);
    std::lock_guard lock(pools().mutex);
    *pool = pools().current;
  });
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return call("cudaDeviceSetMemPool", [&] {
    demand_device(device);
    std::lock_guard lock(pools().mutex);
    pools().demand_pool(pool);
    demand(pool->type == cudaMemoryTypeDevice, cudaErrorInvalidValue,
           "the pool is not of memory on the device");
    pools().current = pool;
  });
}
cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                                     cudaMemAllocationType type) {
  return call("cudaMemGetDefaultMemPool", [&] {
    demand(pool && location, cudaErrorInvalidValue, "a pointer is null");
    *pool = standard_pool(type_of(type, *location));
  });
}
cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                              cudaMemAllocationType type) {
  return call("cudaMemGetMemPool", [&] {
    demand(pool && location, cudaErrorInvalidValue, "a pointer is null");
    const cudaMemoryType memory = type_of(type, *location);
    std::lock_guard lock(pools().mutex);
    *pool = memory == cudaMemoryTypeDevice ? pools().current : standard_pool(memory);
  });
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return call("cudaMemPoolCreate", [&] {
    demand(pool && properties, cudaErrorInvalidValue, "a pointer is null");
    auto created = std::make_unique<CUmemPoolHandle_st>();
    created->type = type_of(properties->allocType, properties->location);
    *pool = created.get();
    std::lock_guard lock(pools().mutex);
    pools().created.emplace(*pool, std::move(created));
  });
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return call("cudaMemPoolDestroy", [&] {
    std::lock_guard lock(pools().mutex);
    demand(pools().created.erase(pool) == 1, cudaErrorInvalidValue,
           "this is not a memory pool that was created");
    if (pools().current == pool) pools().current = &pools().standard;
  });
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call("cudaMemPoolSetAttribute", [&] {
    demand(value != nullptr, cudaErrorInvalidValue, "the pointer to the value is null");
    std::lock_guard lock(pools().mutex);
    pools().demand_pool(pool);
    pool->attributes[attribute] = is_flag(attribute)
                                      ? static_cast<std::uint64_t>(*static_cast<int*>(value))
                                      : *static_cast<std::uint64_t*>(value);
  });
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call("cudaMemPoolGetAttribute", [&] {
    demand(value != nullptr, cudaErrorInvalidValue, "the pointer to the value is null");
    std::lock_guard lock(pools().mutex);
    pools().demand_pool(pool);
    const bool flag = is_flag(attribute);
    demand(attribute <= cudaMemPoolAttrReleaseThreshold, cudaErrorNotSupported,
           "how much memory a pool holds is not counted");
    const auto found = pool->attributes.find(attribute);
    const std::uint64_t now = found != pool->attributes.end() ? found->second : flag ? 1 : 0;
    if (flag) {
      *static_cast<int*>(value) = static_cast<int>(now);
    } else {
      *static_cast<std::uint64_t*>(value) = now;
    }
  });
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
  return call("cudaMemPoolTrimTo", [&] {
    std::lock_guard lock(pools().mutex);
    pools().demand_pool(pool);
  });
}
cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  const cudaError_t error = cudaMemPoolTrimTo(pool, 0);
  return error != cudaSuccess ? error : allocate_in_order(pointer, bytes, pool->type, stream);
}
