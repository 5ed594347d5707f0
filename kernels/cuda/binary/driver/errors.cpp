// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Names and texts of the error codes, as in CUDA.
#include "cuda/binary/driver/call.h"

#include <array>

namespace {

struct Words {
  CUresult code;
  const char* name;
  const char* text;
};
#define KG_WORDS(code, text)                                                                       \
  Words { code, #code, text }
constexpr std::array kWords{
    KG_WORDS(CUDA_SUCCESS, "no error"),
    KG_WORDS(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    KG_WORDS(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    KG_WORDS(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    KG_WORDS(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
    KG_WORDS(CUDA_ERROR_PROFILER_DISABLED, "profiler disabled while using external profiling tool"),
    KG_WORDS(CUDA_ERROR_PROFILER_NOT_INITIALIZED,
             "profiler not initialized: call cudaProfilerInitialize()"),
    KG_WORDS(CUDA_ERROR_PROFILER_ALREADY_STARTED, "profiler already started"),
    KG_WORDS(CUDA_ERROR_PROFILER_ALREADY_STOPPED, "profiler already stopped"),
    KG_WORDS(CUDA_ERROR_STUB_LIBRARY, "CUDA driver is a stub library"),
    KG_WORDS(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER,
             "API call is not supported in the installed CUDA driver"),
    KG_WORDS(CUDA_ERROR_DEVICE_UNAVAILABLE, "CUDA-capable device(s) is/are busy or unavailable"),
    KG_WORDS(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    KG_WORDS(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    KG_WORDS(CUDA_ERROR_DEVICE_NOT_LICENSED, "device doesn't have valid Grid license"),
    KG_WORDS(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    KG_WORDS(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    KG_WORDS(CUDA_ERROR_CONTEXT_ALREADY_CURRENT, "context already current"),
    KG_WORDS(CUDA_ERROR_MAP_FAILED, "mapping of buffer object failed"),
    KG_WORDS(CUDA_ERROR_UNMAP_FAILED, "unmapping of buffer object failed"),
    KG_WORDS(CUDA_ERROR_ARRAY_IS_MAPPED, "array is mapped"),
    KG_WORDS(CUDA_ERROR_ALREADY_MAPPED, "resource already mapped"),
    KG_WORDS(CUDA_ERROR_NO_BINARY_FOR_GPU,
             "no kernel image is available for execution on the device"),
    KG_WORDS(CUDA_ERROR_ALREADY_ACQUIRED, "resource already acquired"),
    KG_WORDS(CUDA_ERROR_NOT_MAPPED, "resource not mapped"),
    KG_WORDS(CUDA_ERROR_NOT_MAPPED_AS_ARRAY, "resource not mapped as array"),
    KG_WORDS(CUDA_ERROR_NOT_MAPPED_AS_POINTER, "resource not mapped as pointer"),
    KG_WORDS(CUDA_ERROR_ECC_UNCORRECTABLE, "uncorrectable ECC error encountered"),
    KG_WORDS(CUDA_ERROR_UNSUPPORTED_LIMIT, "limit is not supported on this architecture"),
    KG_WORDS(CUDA_ERROR_CONTEXT_ALREADY_IN_USE,
             "exclusive-thread device already in use by a different thread"),
    KG_WORDS(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
             "peer access is not supported between these two devices"),
    KG_WORDS(CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed"),
    KG_WORDS(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, "invalid OpenGL or DirectX context"),
    KG_WORDS(CUDA_ERROR_NVLINK_UNCORRECTABLE,
             "uncorrectable NVLink error detected during the execution"),
    KG_WORDS(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "PTX JIT compiler library not found"),
    KG_WORDS(CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
             "the provided PTX was compiled with an unsupported toolchain."),
    KG_WORDS(CUDA_ERROR_JIT_COMPILATION_DISABLED, "PTX JIT compilation was disabled"),
    KG_WORDS(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
             "the provided execution affinity is not supported"),
    KG_WORDS(CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC,
             "the provided PTX contains unsupported call to cudaDeviceSynchronize"),
    KG_WORDS(CUDA_ERROR_CONTAINED,
             "Invalid access of peer GPU memory over nvlink or a hardware error"),
    KG_WORDS(CUDA_ERROR_INVALID_SOURCE, "device kernel image is invalid"),
    KG_WORDS(CUDA_ERROR_FILE_NOT_FOUND, "file not found"),
    KG_WORDS(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, "shared object symbol not found"),
    KG_WORDS(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, "shared object initialization failed"),
    KG_WORDS(CUDA_ERROR_OPERATING_SYSTEM, "OS call failed or operation not supported on this OS"),
    KG_WORDS(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    KG_WORDS(CUDA_ERROR_ILLEGAL_STATE, "the operation cannot be performed in the present state"),
    KG_WORDS(CUDA_ERROR_LOSSY_QUERY, "attempted introspection would be semantically lossy"),
    KG_WORDS(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    KG_WORDS(CUDA_ERROR_NOT_READY, "device not ready"),
    KG_WORDS(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    KG_WORDS(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"),
    KG_WORDS(CUDA_ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated"),
    KG_WORDS(CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING, "launch uses incompatible texturing mode"),
    KG_WORDS(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is already enabled"),
    KG_WORDS(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access has not been enabled"),
    KG_WORDS(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE,
             "cannot set while device is active in this process"),
    KG_WORDS(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
    KG_WORDS(CUDA_ERROR_ASSERT, "device-side assert triggered"),
    KG_WORDS(CUDA_ERROR_TOO_MANY_PEERS, "peer mapping resources exhausted"),
    KG_WORDS(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
             "part or all of the requested memory range is already mapped"),
    KG_WORDS(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
             "pointer does not correspond to a registered memory region"),
    KG_WORDS(CUDA_ERROR_HARDWARE_STACK_ERROR, "hardware stack error"),
    KG_WORDS(CUDA_ERROR_ILLEGAL_INSTRUCTION, "an illegal instruction was encountered"),
    KG_WORDS(CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address"),
    KG_WORDS(CUDA_ERROR_INVALID_ADDRESS_SPACE,
             "operation not supported on global/shared address space"),
    KG_WORDS(CUDA_ERROR_INVALID_PC, "invalid program counter"),
    KG_WORDS(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    KG_WORDS(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "too many blocks in cooperative launch"),
    KG_WORDS(CUDA_ERROR_TENSOR_MEMORY_LEAK, "tensor memory not completely freed"),
    KG_WORDS(CUDA_ERROR_NOT_PERMITTED, "operation not permitted"),
    KG_WORDS(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    KG_WORDS(CUDA_ERROR_SYSTEM_NOT_READY, "system not yet initialized"),
    KG_WORDS(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
             "system has unsupported display driver / cuda driver combination"),
    KG_WORDS(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE,
             "forward compatibility was attempted on non supported HW"),
    KG_WORDS(CUDA_ERROR_MPS_CONNECTION_FAILED,
             "MPS client failed to connect to the MPS control daemon or the MPS server"),
    KG_WORDS(CUDA_ERROR_MPS_RPC_FAILURE,
             "the remote procedural call between the MPS server and the MPS client failed"),
    KG_WORDS(CUDA_ERROR_MPS_SERVER_NOT_READY,
             "MPS server is not ready to accept new MPS client requests"),
    KG_WORDS(CUDA_ERROR_MPS_MAX_CLIENTS_REACHED,
             "the hardware resources required to create MPS client have been exhausted"),
    KG_WORDS(CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED,
             "the hardware resources required to support device connections have been exhausted"),
    KG_WORDS(CUDA_ERROR_MPS_CLIENT_TERMINATED, "the MPS client has been terminated by the server"),
    KG_WORDS(CUDA_ERROR_CDP_NOT_SUPPORTED, "is using CUDA Dynamic Parallelism, but the current "
                                           "configuration, like MPS, does not support it"),
    KG_WORDS(CUDA_ERROR_CDP_VERSION_MISMATCH,
             "unsupported interaction between different versions of CUDA Dynamic Parallelism"),
    KG_WORDS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
             "operation not permitted when stream is capturing"),
    KG_WORDS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
             "operation failed due to a previous error during capture"),
    KG_WORDS(CUDA_ERROR_STREAM_CAPTURE_MERGE,
             "operation would result in a merge of separate capture sequences"),
    KG_WORDS(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
             "capture was not ended in the same stream as it began"),
    KG_WORDS(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "capturing stream has unjoined work"),
    KG_WORDS(CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
             "dependency created on uncaptured work in another stream"),
    KG_WORDS(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
             "operation would make the legacy stream depend on a capturing blocking stream"),
    KG_WORDS(CUDA_ERROR_CAPTURED_EVENT,
             "operation not permitted on an event last recorded in a capturing stream"),
    KG_WORDS(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
             "attempt to terminate a thread-local capture sequence from another thread"),
    KG_WORDS(CUDA_ERROR_TIMEOUT, "wait operation timed out"),
    KG_WORDS(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
             "the graph update was not performed because it included changes which violated "
             "constraints specific to instantiated graph update"),
    KG_WORDS(CUDA_ERROR_EXTERNAL_DEVICE,
             "an async error has occured in external entity outside of CUDA"),
    KG_WORDS(CUDA_ERROR_INVALID_CLUSTER_SIZE,
             "a kernel launch error has occurred due to cluster misconfiguration"),
    KG_WORDS(
        CUDA_ERROR_FUNCTION_NOT_LOADED,
        "the function handle is not loaded when calling an API that requires a loaded function"),
    KG_WORDS(CUDA_ERROR_INVALID_RESOURCE_TYPE,
             "one or more resources passed in are not valid resource types for the operation"),
    KG_WORDS(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
             "one or more resources are insufficient or non-applicable for the operation"),
    KG_WORDS(CUDA_ERROR_UNKNOWN, "unknown error"),
};

// Null, and an error, if the code is unknown.
CUresult say(CUresult code, const char* Words::*which, const char** text) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = nullptr;
  for (const Words& words : kWords)
    if (words.code == code) *text = words.*which;
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

} // namespace

KG_DRIVER cuGetErrorName(CUresult code, const char** name) { return say(code, &Words::name, name); }
KG_DRIVER cuGetErrorString(CUresult code, const char** text) {
  return say(code, &Words::text, text);
}
