// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The C interface of libcudart (CUDA Runtime API 13.0). Each function calls the C++ function of the
// same name for user sources (cuda/source/api.h). Functions that need CUDA's own structures are in
// layouts.cpp.
#include "cuda/binary/export.h"
#include "cuda/binary/launch.h"
#include "cuda/binary/modules.h"
#include "cuda/source/state.h"

KG_EXPORT(cudaError_t, cudaGetLastError, (), cudaGetLastError())
KG_EXPORT(cudaError_t, cudaPeekAtLastError, (), cudaPeekAtLastError())
KG_EXPORT(cudaError_t, cudaGetDeviceCount, (int* count), cudaGetDeviceCount(count))
KG_EXPORT(cudaError_t, cudaGetDevice, (int* device), cudaGetDevice(device))
KG_EXPORT(cudaError_t, cudaSetDevice, (int device), cudaSetDevice(device))
KG_EXPORT(cudaError_t, cudaInitDevice, (int device, unsigned device_flags, unsigned flags),
          cudaInitDevice(device, device_flags, flags))
KG_EXPORT(cudaError_t, cudaSetDeviceFlags, (unsigned flags), cudaSetDeviceFlags(flags))
KG_EXPORT(cudaError_t, cudaDeviceGetAttribute, (int* value, cudaDeviceAttr attribute, int device),
          cudaDeviceGetAttribute(value, attribute, device))
KG_EXPORT(cudaError_t, cudaDeviceSynchronize, (), cudaDeviceSynchronize())
KG_EXPORT(cudaError_t, cudaDeviceReset, (), cudaDeviceReset())
KG_EXPORT(cudaError_t, cudaDeviceSetCacheConfig, (cudaFuncCache config),
          cudaDeviceSetCacheConfig(config))
KG_EXPORT(cudaError_t, cudaDeviceSetLimit, (cudaLimit limit, std::size_t value),
          cudaDeviceSetLimit(limit, value))
KG_EXPORT(cudaError_t, cudaDeviceGetLimit, (std::size_t * value, cudaLimit limit),
          cudaDeviceGetLimit(value, limit))
KG_EXPORT(cudaError_t, cudaDeviceGetPCIBusId, (char* text, int bytes, int device),
          cudaDeviceGetPCIBusId(text, bytes, device))
KG_EXPORT(cudaError_t, cudaDeviceGetStreamPriorityRange, (int* least, int* greatest),
          cudaDeviceGetStreamPriorityRange(least, greatest))
KG_EXPORT(cudaError_t, cudaDeviceCanAccessPeer, (int* can, int device, int peer),
          cudaDeviceCanAccessPeer(can, device, peer))
KG_EXPORT(cudaError_t, cudaDeviceEnablePeerAccess, (int peer, unsigned flags),
          cudaDeviceEnablePeerAccess(peer, flags))
KG_EXPORT(cudaError_t, cudaDeviceDisablePeerAccess, (int peer), cudaDeviceDisablePeerAccess(peer))
KG_EXPORT(cudaError_t, cudaCtxResetPersistingL2Cache, (), cudaCtxResetPersistingL2Cache())
KG_EXPORT(cudaError_t, cudaDriverGetVersion, (int* version), cudaDriverGetVersion(version))
KG_EXPORT(cudaError_t, cudaRuntimeGetVersion, (int* version), cudaRuntimeGetVersion(version))
KG_EXPORT(cudaError_t, cudaMemGetInfo, (std::size_t * free, std::size_t* total),
          cudaMemGetInfo(free, total))
KG_EXPORT(cudaError_t, cudaMalloc, (void** pointer, std::size_t bytes), cudaMalloc(pointer, bytes))
KG_EXPORT(cudaError_t, cudaMallocPitch,
          (void** pointer, std::size_t* pitch, std::size_t width, std::size_t height),
          cudaMallocPitch(pointer, pitch, width, height))
KG_EXPORT_PER_THREAD(cudaError_t, cudaMallocAsync, _ptsz,
                     (void** pointer, std::size_t bytes, cudaStream_t stream),
                     cudaMallocAsync(pointer, bytes, stream))
KG_EXPORT(cudaError_t, cudaMallocManaged, (void** pointer, std::size_t bytes, unsigned flags),
          cudaMallocManaged(pointer, bytes, flags))
KG_EXPORT(cudaError_t, cudaMallocHost, (void** pointer, std::size_t bytes),
          cudaMallocHost(pointer, bytes, 0))
KG_EXPORT(cudaError_t, cudaHostAlloc, (void** pointer, std::size_t bytes, unsigned flags),
          cudaHostAlloc(pointer, bytes, flags))
KG_EXPORT(cudaError_t, cudaFree, (void* pointer), cudaFree(pointer))
KG_EXPORT_PER_THREAD(cudaError_t, cudaFreeAsync, _ptsz, (void* pointer, cudaStream_t stream),
                     cudaFreeAsync(pointer, stream))
KG_EXPORT(cudaError_t, cudaFreeHost, (void* pointer), cudaFreeHost(pointer))
KG_EXPORT(cudaError_t, cudaHostGetDevicePointer, (void** device, void* host, unsigned flags),
          cudaHostGetDevicePointer(device, host, flags))
KG_EXPORT(cudaError_t, cudaHostGetFlags, (unsigned* flags, void* host),
          cudaHostGetFlags(flags, host))
KG_EXPORT(cudaError_t, cudaHostRegister, (void* host, std::size_t bytes, unsigned flags),
          cudaHostRegister(host, bytes, flags))
KG_EXPORT(cudaError_t, cudaHostUnregister, (void* host), cudaHostUnregister(host))
KG_EXPORT_PER_THREAD(cudaError_t, cudaMemcpy, _ptds,
                     (void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind),
                     cudaMemcpy(to, from, bytes, kind))
KG_EXPORT_PER_THREAD(cudaError_t, cudaMemcpyAsync, _ptsz,
                     (void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                      cudaStream_t stream),
                     cudaMemcpyAsync(to, from, bytes, kind, stream))
KG_EXPORT(cudaError_t, cudaMemcpyPeer,
          (void* to, int to_device, const void* from, int from_device, std::size_t bytes),
          cudaMemcpyPeer(to, to_device, from, from_device, bytes))
KG_EXPORT(cudaError_t, cudaMemcpyPeerAsync,
          (void* to, int to_device, const void* from, int from_device, std::size_t bytes,
           cudaStream_t stream),
          cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, stream))
KG_EXPORT_PER_THREAD(cudaError_t, cudaMemcpy3DAsync, _ptsz,
                     (const cudaMemcpy3DParms* parameters, cudaStream_t stream),
                     cudaMemcpy3DAsync(parameters, stream))
KG_EXPORT_PER_THREAD(cudaError_t, cudaMemcpy2D, _ptds,
                     (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t height, cudaMemcpyKind kind),
                     cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind))
KG_EXPORT_PER_THREAD(cudaError_t, cudaMemcpy2DAsync, _ptsz,
                     (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t height, cudaMemcpyKind kind,
                      cudaStream_t stream),
                     cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, stream))
KG_EXPORT_PER_THREAD(cudaError_t, cudaMemcpy3D, _ptds, (const cudaMemcpy3DParms* parameters),
                     cudaMemcpy3D(parameters))
KG_EXPORT_PER_THREAD(cudaError_t, cudaMemset, _ptds, (void* to, int value, std::size_t bytes),
                     cudaMemset(to, value, bytes))
KG_EXPORT_PER_THREAD(cudaError_t, cudaMemsetAsync, _ptsz,
                     (void* to, int value, std::size_t bytes, cudaStream_t stream),
                     cudaMemsetAsync(to, value, bytes, stream))
KG_EXPORT_PER_THREAD(cudaError_t, cudaMemset2D, _ptds,
                     (void* to, std::size_t pitch, int value, std::size_t width,
                      std::size_t height),
                     cudaMemset2D(to, pitch, value, width, height))
KG_EXPORT_PER_THREAD(cudaError_t, cudaMemPrefetchAsync, _ptsz,
                     (const void* pointer, std::size_t bytes, cudaMemLocation location,
                      unsigned flags, cudaStream_t stream),
                     cudaMemPrefetchAsync(pointer, bytes, location, flags, stream))
KG_EXPORT(cudaError_t, cudaMemAdvise,
          (const void* pointer, std::size_t bytes, cudaMemoryAdvise advice,
           cudaMemLocation location),
          cudaMemAdvise(pointer, bytes, advice, location))
KG_EXPORT_PER_THREAD(cudaError_t, cudaStreamAttachMemAsync, _ptsz,
                     (cudaStream_t stream, void* pointer, std::size_t bytes, unsigned flags),
                     cudaStreamAttachMemAsync(stream, pointer, bytes, flags))
KG_EXPORT(cudaError_t, cudaDeviceGetDefaultMemPool, (cudaMemPool_t * pool, int device),
          cudaDeviceGetDefaultMemPool(pool, device))
KG_EXPORT(cudaError_t, cudaMemGetDefaultMemPool,
          (cudaMemPool_t * pool, cudaMemLocation* location, cudaMemAllocationType type),
          cudaMemGetDefaultMemPool(pool, location, type))
KG_EXPORT(cudaError_t, cudaMemGetMemPool,
          (cudaMemPool_t * pool, cudaMemLocation* location, cudaMemAllocationType type),
          cudaMemGetMemPool(pool, location, type))
KG_EXPORT(cudaError_t, cudaMemPoolSetAttribute,
          (cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value),
          cudaMemPoolSetAttribute(pool, attribute, value))
KG_EXPORT(cudaError_t, cudaMemPoolGetAttribute,
          (cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value),
          cudaMemPoolGetAttribute(pool, attribute, value))
KG_EXPORT(cudaError_t, cudaMemPoolTrimTo, (cudaMemPool_t pool, std::size_t bytes),
          cudaMemPoolTrimTo(pool, bytes))
KG_EXPORT_PER_THREAD(cudaError_t, cudaMallocFromPoolAsync, _ptsz,
                     (void** pointer, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
                     cudaMallocFromPoolAsync(pointer, bytes, pool, stream))
KG_EXPORT(cudaError_t, cudaStreamCreate, (cudaStream_t * stream), cudaStreamCreate(stream))
KG_EXPORT(cudaError_t, cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags),
          cudaStreamCreateWithFlags(stream, flags))
KG_EXPORT(cudaError_t, cudaStreamCreateWithPriority,
          (cudaStream_t * stream, unsigned flags, int priority),
          cudaStreamCreateWithPriority(stream, flags, priority))
KG_EXPORT(cudaError_t, cudaStreamDestroy, (cudaStream_t stream), cudaStreamDestroy(stream))
KG_EXPORT_PER_THREAD(cudaError_t, cudaStreamSynchronize, _ptsz, (cudaStream_t stream),
                     cudaStreamSynchronize(stream))
KG_EXPORT_PER_THREAD(cudaError_t, cudaStreamQuery, _ptsz, (cudaStream_t stream),
                     cudaStreamQuery(stream))
KG_EXPORT_PER_THREAD(cudaError_t, cudaStreamWaitEvent, _ptsz,
                     (cudaStream_t stream, cudaEvent_t event, unsigned flags),
                     cudaStreamWaitEvent(stream, event, flags))
KG_EXPORT_PER_THREAD(cudaError_t, cudaStreamAddCallback, _ptsz,
                     (cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                      unsigned flags),
                     cudaStreamAddCallback(stream, callback, data, flags))
KG_EXPORT_PER_THREAD(cudaError_t, cudaStreamGetPriority, _ptsz,
                     (cudaStream_t stream, int* priority), cudaStreamGetPriority(stream, priority))
KG_EXPORT_PER_THREAD(cudaError_t, cudaStreamGetFlags, _ptsz, (cudaStream_t stream, unsigned* flags),
                     cudaStreamGetFlags(stream, flags))
KG_EXPORT(cudaError_t, cudaDeviceGetMemPool, (cudaMemPool_t * pool, int device),
          cudaDeviceGetMemPool(pool, device))
KG_EXPORT(cudaError_t, cudaDeviceSetMemPool, (int device, cudaMemPool_t pool),
          cudaDeviceSetMemPool(device, pool))
KG_EXPORT(cudaError_t, cudaMemPoolCreate,
          (cudaMemPool_t * pool, const cudaMemPoolProps* properties),
          cudaMemPoolCreate(pool, properties))
KG_EXPORT(cudaError_t, cudaMemPoolDestroy, (cudaMemPool_t pool), cudaMemPoolDestroy(pool))
KG_EXPORT_PER_THREAD(cudaError_t, cudaLaunchHostFunc, _ptsz,
                     (cudaStream_t stream, cudaHostFn_t function, void* data),
                     cudaLaunchHostFunc(stream, function, data))
KG_EXPORT(cudaError_t, cudaEventCreate, (cudaEvent_t * event),
          cudaEventCreate(event, cudaEventDefault))
KG_EXPORT(cudaError_t, cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags),
          cudaEventCreateWithFlags(event, flags))
KG_EXPORT(cudaError_t, cudaEventDestroy, (cudaEvent_t event), cudaEventDestroy(event))
KG_EXPORT_PER_THREAD(cudaError_t, cudaEventRecord, _ptsz, (cudaEvent_t event, cudaStream_t stream),
                     cudaEventRecord(event, stream))
KG_EXPORT(cudaError_t, cudaEventSynchronize, (cudaEvent_t event), cudaEventSynchronize(event))
KG_EXPORT(cudaError_t, cudaEventQuery, (cudaEvent_t event), cudaEventQuery(event))
KG_EXPORT(cudaError_t, cudaEventElapsedTime,
          (float* milliseconds, cudaEvent_t start, cudaEvent_t stop),
          cudaEventElapsedTime(milliseconds, start, stop))
KG_EXPORT(const char*, cudaGetErrorName, (cudaError_t error), cudaGetErrorName(error))
KG_EXPORT(const char*, cudaGetErrorString, (cudaError_t error), cudaGetErrorString(error))

// Tells a program of this project that the device is emulated (runtime/cuda/device.cpp).
extern "C" {
[[gnu::visibility("default")]] extern const char kernelgrade_emulated_device = 1;
}

// Profiling has no effect.
KG_EXPORT(cudaError_t, cudaProfilerStart, (), cudaSuccess)
KG_EXPORT(cudaError_t, cudaProfilerStop, (), cudaSuccess)

// --- Kernels

namespace {

using namespace kg::emulate;

kg::LaunchConfig configuration(dim3 grid, dim3 block, std::size_t shared_bytes) {
  kg::LaunchConfig config{.grid = grid, .block = block, .shared_bytes = shared_bytes};
  config.where = {"the program", 0};
  return config;
}

cudaError_t launch_cooperative(const void* kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared_bytes, cudaStream_t stream) {
  kg::LaunchConfig config = configuration(grid, block, shared_bytes);
  config.cooperative = true;
  return launch(kernel, config, arguments, stream);
}

// The name as nvcc mangled it; valid as long as the program.
cudaError_t name_of(const char** name, const void* kernel) {
  return kg::foreign::call("cudaFuncGetName", [&] {
    try {
      *name = mangled_name_at(kernel);
    } catch (const kg::Error& error) {
      throw kg::foreign::Refusal(cudaErrorInvalidDeviceFunction, error.what());
    }
  });
}

} // namespace

KG_EXPORT_PER_THREAD(cudaError_t, cudaLaunchKernel, _ptsz,
                     (const void* kernel, dim3 grid, dim3 block, void** arguments,
                      std::size_t shared_bytes, cudaStream_t stream),
                     launch(kernel, configuration(grid, block, shared_bytes), arguments, stream))
KG_EXPORT_PER_THREAD(cudaError_t, cudaLaunchCooperativeKernel, _ptsz,
                     (const void* kernel, dim3 grid, dim3 block, void** arguments,
                      std::size_t shared_bytes, cudaStream_t stream),
                     launch_cooperative(kernel, grid, block, arguments, shared_bytes, stream))
KG_EXPORT(cudaError_t, cudaFuncGetName, (const char** name, const void* kernel),
          name_of(name, kernel))
KG_EXPORT(cudaError_t, cudaFuncSetAttribute, (const void*, cudaFuncAttribute attribute, int value),
          kg::foreign::set_function_attribute(attribute, value))
KG_EXPORT(cudaError_t, cudaFuncSetCacheConfig, (const void*, cudaFuncCache), cudaSuccess)
KG_EXPORT(cudaError_t, cudaOccupancyMaxActiveBlocksPerMultiprocessor,
          (int* blocks, const void*, int threads, std::size_t shared_bytes),
          kg::foreign::active_blocks(blocks, threads, shared_bytes))
KG_EXPORT(cudaError_t, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
          (int* blocks, const void*, int threads, std::size_t shared_bytes, unsigned),
          kg::foreign::active_blocks(blocks, threads, shared_bytes))

// --- Variables

namespace {

// Calls body(variable) with the variable at this address.
template <class Body>
cudaError_t with_variable(const char* name, const void* symbol, Body body) {
  Variable variable{};
  const cudaError_t found = kg::foreign::call(name, [&] {
    try {
      variable = variable_at(symbol);
    } catch (const kg::Error& error) {
      throw kg::foreign::Refusal(cudaErrorInvalidSymbol, error.what());
    }
  });
  return found == cudaSuccess ? body(variable) : found;
}

cudaError_t copy_to(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                    cudaMemcpyKind kind) {
  return with_variable("cudaMemcpyToSymbol", symbol, [&](const Variable& variable) {
    return kg::foreign::copy_to_symbol(variable.data, variable.bytes, from, bytes, offset, kind);
  });
}
cudaError_t copy_from(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                      cudaMemcpyKind kind) {
  return with_variable("cudaMemcpyFromSymbol", symbol, [&](const Variable& variable) {
    return kg::foreign::copy_from_symbol(to, variable.data, variable.bytes, bytes, offset, kind);
  });
}
cudaError_t address_of(void** address, const void* symbol) {
  return with_variable("cudaGetSymbolAddress", symbol, [&](const Variable& variable) {
    return kg::foreign::symbol_address(address, variable.data, variable.bytes);
  });
}
cudaError_t size_of(std::size_t* bytes, const void* symbol) {
  return with_variable("cudaGetSymbolSize", symbol, [&](const Variable& variable) {
    *bytes = variable.bytes;
    return cudaSuccess;
  });
}

} // namespace

KG_EXPORT_PER_THREAD(cudaError_t, cudaMemcpyToSymbol, _ptds,
                     (const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                      cudaMemcpyKind kind),
                     copy_to(symbol, from, bytes, offset, kind))
KG_EXPORT_PER_THREAD(cudaError_t, cudaMemcpyToSymbolAsync, _ptsz,
                     (const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                      cudaMemcpyKind kind, cudaStream_t),
                     copy_to(symbol, from, bytes, offset, kind))
KG_EXPORT_PER_THREAD(cudaError_t, cudaMemcpyFromSymbol, _ptds,
                     (void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                      cudaMemcpyKind kind),
                     copy_from(to, symbol, bytes, offset, kind))
KG_EXPORT_PER_THREAD(cudaError_t, cudaMemcpyFromSymbolAsync, _ptsz,
                     (void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                      cudaMemcpyKind kind, cudaStream_t),
                     copy_from(to, symbol, bytes, offset, kind))
KG_EXPORT(cudaError_t, cudaGetSymbolAddress, (void** address, const void* symbol),
          address_of(address, symbol))
KG_EXPORT(cudaError_t, cudaGetSymbolSize, (std::size_t * bytes, const void* symbol),
          size_of(bytes, symbol))
