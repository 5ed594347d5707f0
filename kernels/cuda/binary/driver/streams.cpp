// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Streams and events.
#include "cuda/binary/driver/call.h"
#include "cuda/source/state.h"

using namespace kg::emulate;

// --- Streams

KG_DRIVER cuStreamCreate(CUstream* stream, unsigned flags) {
  return by_runtime(cudaStreamCreateWithFlags, stream, flags);
}
KG_DRIVER cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return by_runtime(cudaStreamCreateWithPriority, stream, flags, priority);
}
KG_DRIVER cuStreamDestroy(CUstream stream) { return by_runtime(cudaStreamDestroy, stream); }
KG_DRIVER cuStreamSynchronize(CUstream stream) { return by_runtime(cudaStreamSynchronize, stream); }
KG_DRIVER cuStreamQuery(CUstream stream) { return by_runtime(cudaStreamQuery, stream); }
KG_DRIVER cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return by_runtime(cudaStreamWaitEvent, stream, event, flags);
}
KG_DRIVER cuStreamGetPriority(CUstream stream, int* priority) {
  if (!priority) return CUDA_ERROR_INVALID_VALUE;
  return by_runtime(cudaStreamGetPriority, stream, priority);
}
KG_DRIVER cuStreamGetFlags(CUstream stream, unsigned* flags) {
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  return by_runtime(cudaStreamGetFlags, stream, flags);
}
KG_DRIVER cuStreamGetDevice(CUstream stream, CUdevice* device) {
  return driver("cuStreamGetDevice", [&] {
    demand_pointer(device, "device");
    kg::foreign::stream_of(stream);
    *device = 0;
  });
}
KG_DRIVER cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return driver("cuStreamGetCtx", [&] {
    demand_pointer(context, "pctx");
    kg::foreign::stream_of(stream);
    cuCtxGetCurrent(context);
  });
}
KG_DRIVER cuStreamGetId(CUstream stream, unsigned long long* id) {
  return driver("cuStreamGetId", [&] {
    demand_pointer(id, "streamId");
    *id = reinterpret_cast<unsigned long long>(&kg::foreign::stream_of(stream));
  });
}
KG_DRIVER cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* data, unsigned) {
  if (!callback) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult missing = in_context()) return missing;
  return code_of(kg::foreign::call_on_host(stream, "cuStreamAddCallback",
                                           [=] { callback(stream, CUDA_SUCCESS, data); }));
}
KG_DRIVER cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, std::size_t bytes,
                                 unsigned flags) {
  return by_runtime(cudaStreamAttachMemAsync, stream, pointer_to(address), bytes, flags);
}

// --- Events

KG_DRIVER cuEventCreate(CUevent* event, unsigned flags) {
  return by_runtime(cudaEventCreateWithFlags, event, flags);
}
KG_DRIVER cuEventDestroy(CUevent event) { return by_runtime(cudaEventDestroy, event); }
KG_DRIVER cuEventRecord(CUevent event, CUstream stream) {
  return by_runtime(cudaEventRecord, event, stream);
}
KG_DRIVER cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned) {
  return by_runtime(cudaEventRecord, event, stream);
}
KG_DRIVER cuEventSynchronize(CUevent event) { return by_runtime(cudaEventSynchronize, event); }
KG_DRIVER cuEventQuery(CUevent event) { return by_runtime(cudaEventQuery, event); }
KG_DRIVER cuEventElapsedTime(float* milliseconds, CUevent start, CUevent stop) {
  if (!milliseconds) return CUDA_ERROR_INVALID_VALUE;
  return by_runtime(cudaEventElapsedTime, milliseconds, start, stop);
}
