// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies and fills.
#include "cuda/binary/driver/call.h"
#include "cuda/source/texture.h"

#include <cstring>

namespace kg::emulate {
namespace {

CUresult copy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, cudaMemcpyKind kind) {
  return by_runtime(cudaMemcpy, pointer_to(to), pointer_to(from), bytes, kind);
}
CUresult copy_async(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, cudaMemcpyKind kind,
                    CUstream stream) {
  return by_runtime(cudaMemcpyAsync, pointer_to(to), pointer_to(from), bytes, kind, stream);
}

CUdeviceptr address(const void* host) { return reinterpret_cast<CUdeviceptr>(host); }

// One side of a copy.
struct Side {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  std::size_t x, y, z, pitch, height;
  CUarray array;

  bool on_host() const { return type == CU_MEMORYTYPE_HOST; }
  cudaPitchedPtr memory(std::size_t width) const {
    demand(type == CU_MEMORYTYPE_HOST || type == CU_MEMORYTYPE_DEVICE ||
               type == CU_MEMORYTYPE_UNIFIED,
           CUDA_ERROR_NOT_SUPPORTED, "copies between arrays are not executed");
    void* const begin = on_host() ? const_cast<void*>(host) : pointer_to(device);
    return {begin, pitch != 0 ? pitch : x + width, 0, height};
  }
};

cudaMemcpyKind kind_of(const Side& to, const Side& from) {
  if (to.type == CU_MEMORYTYPE_UNIFIED || from.type == CU_MEMORYTYPE_UNIFIED)
    return cudaMemcpyDefault;
  if (to.on_host()) return from.on_host() ? cudaMemcpyHostToHost : cudaMemcpyDeviceToHost;
  return from.on_host() ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice;
}

// Rows between an array and memory.
CUresult copy_rows(const Side& array, const Side& memory, bool to_array, cudaExtent extent,
                   cudaMemcpyKind kind, CUstream stream) {
  char* rows = nullptr;
  std::size_t pitch = 0;
  const CUresult error = driver("a copy", [&] {
    demand(extent.depth <= 1 && !host::queue_of(foreign::stream_of(stream)).capturing(),
           CUDA_ERROR_NOT_SUPPORTED,
           "a copy with an array has two dimensions, and is not captured here");
    const cudaPitchedPtr all = memory.memory(extent.width);
    pitch = all.pitch;
    rows = static_cast<char*>(all.ptr) + memory.y * pitch + memory.x;
  });
  if (error) return error;
  const auto of = reinterpret_cast<cudaArray_t>(array.array);
  return code_of(to_array ? cudaMemcpy2DToArray(of, array.x, array.y, rows, pitch, extent.width,
                                                extent.height, kind)
                          : cudaMemcpy2DFromArray(rows, pitch, of, array.x, array.y, extent.width,
                                                  extent.height, kind));
}

CUresult copy_box(const Side& to, const Side& from, cudaExtent extent, CUstream stream) {
  const bool to_array = to.type == CU_MEMORYTYPE_ARRAY;
  if (to_array != (from.type == CU_MEMORYTYPE_ARRAY))
    return copy_rows(to_array ? to : from, to_array ? from : to, to_array, extent,
                     kind_of(to, from), stream);
  cudaMemcpy3DParms parameters{};
  const CUresult error = driver("a copy", [&] {
    parameters.dstPtr = to.memory(extent.width);
    parameters.srcPtr = from.memory(extent.width);
  });
  if (error) return error;
  parameters.dstPos = {to.x, to.y, to.z};
  parameters.srcPos = {from.x, from.y, from.z};
  parameters.extent = extent;
  parameters.kind = kind_of(to, from);
  return code_of(cudaMemcpy3DAsync(&parameters, stream));
}

CUresult copy_rectangle(const CUDA_MEMCPY2D* given, CUstream stream) {
  if (!given) return CUDA_ERROR_INVALID_VALUE;
  return copy_box({given->dstMemoryType, given->dstHost, given->dstDevice, given->dstXInBytes,
                   given->dstY, 0, given->dstPitch, 0, given->dstArray},
                  {given->srcMemoryType, given->srcHost, given->srcDevice, given->srcXInBytes,
                   given->srcY, 0, given->srcPitch, 0, given->srcArray},
                  {given->WidthInBytes, given->Height, 1}, stream);
}

CUresult copy_volume(const CUDA_MEMCPY3D* given, CUstream stream) {
  if (!given) return CUDA_ERROR_INVALID_VALUE;
  return copy_box({given->dstMemoryType, given->dstHost, given->dstDevice, given->dstXInBytes,
                   given->dstY, given->dstZ, given->dstPitch, given->dstHeight, given->dstArray},
                  {given->srcMemoryType, given->srcHost, given->srcDevice, given->srcXInBytes,
                   given->srcY, given->srcZ, given->srcPitch, given->srcHeight, given->srcArray},
                  {given->WidthInBytes, given->Height, given->Depth}, stream);
}

// Fills `rows` rows of `count` elements. The rows are `pitch` bytes apart.
template <class T>
CUresult fill(CUdeviceptr to, std::size_t pitch, T value, std::size_t count, std::size_t rows,
              CUstream stream) {
  if (count == 0 || rows == 0) return in_context();
  const CUresult error = driver("a fill", [&] {
    const std::size_t width = count * sizeof(T);
    demand(to % sizeof(T) == 0 && (rows == 1 || pitch % sizeof(T) == 0), CUDA_ERROR_INVALID_VALUE,
           "the target is not aligned to " + std::to_string(sizeof(T)) + " bytes");
    demand(rows == 1 || width <= pitch, CUDA_ERROR_INVALID_VALUE,
           "the rows are wider than the pitch");
    foreign::demand_on_device(pointer_to(to), (rows - 1) * pitch + width, "the target");
  });
  if (error) return error;
  return code_of(foreign::on_stream(stream, "cuMemsetAsync", [=] {
    for (std::size_t row = 0; row < rows; ++row) {
      T* const begin = static_cast<T*>(pointer_to(to + row * pitch));
      std::fill_n(begin, count, value);
      foreign::note_written(begin, count * sizeof(T));
    }
  }));
}

} // namespace
} // namespace kg::emulate

using namespace kg::emulate;

KG_DRIVER cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy(to, from, bytes, cudaMemcpyDefault);
}
KG_DRIVER cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_async(to, from, bytes, cudaMemcpyDefault, stream);
}
KG_DRIVER cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
  return copy(to, address(from), bytes, cudaMemcpyHostToDevice);
}
KG_DRIVER cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  return copy(address(to), from, bytes, cudaMemcpyDeviceToHost);
}
KG_DRIVER cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy(to, from, bytes, cudaMemcpyDeviceToDevice);
}
KG_DRIVER cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  return copy_async(to, address(from), bytes, cudaMemcpyHostToDevice, stream);
}
KG_DRIVER cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_async(address(to), from, bytes, cudaMemcpyDeviceToHost, stream);
}
KG_DRIVER cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_async(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
KG_DRIVER cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, std::size_t bytes) {
  return copy(to, from, bytes, cudaMemcpyDeviceToDevice);
}
KG_DRIVER cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext,
                            std::size_t bytes, CUstream stream) {
  return copy_async(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
KG_DRIVER cuMemcpy2D(const CUDA_MEMCPY2D* copy) { return copy_rectangle(copy, nullptr); }
KG_DRIVER cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* copy) { return copy_rectangle(copy, nullptr); }
KG_DRIVER cuMemcpy2DAsync(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return copy_rectangle(copy, stream);
}
KG_DRIVER cuMemcpy3D(const CUDA_MEMCPY3D* copy) { return copy_volume(copy, nullptr); }
KG_DRIVER cuMemcpy3DAsync(const CUDA_MEMCPY3D* copy, CUstream stream) {
  return copy_volume(copy, stream);
}

// Defines the four fills for one element type.
#define KG_FILLS(bits, type)                                                                       \
  KG_DRIVER cuMemsetD##bits(CUdeviceptr to, type value, std::size_t count) {                       \
    return fill(to, 0, value, count, 1, nullptr);                                                  \
  }                                                                                                \
  KG_DRIVER cuMemsetD##bits##Async(CUdeviceptr to, type value, std::size_t count,                  \
                                   CUstream stream) {                                              \
    return fill(to, 0, value, count, 1, stream);                                                   \
  }                                                                                                \
  KG_DRIVER cuMemsetD2D##bits(CUdeviceptr to, std::size_t pitch, type value, std::size_t width,    \
                              std::size_t height) {                                                \
    return fill(to, pitch, value, width, height, nullptr);                                         \
  }                                                                                                \
  KG_DRIVER cuMemsetD2D##bits##Async(CUdeviceptr to, std::size_t pitch, type value,                \
                                     std::size_t width, std::size_t height, CUstream stream) {     \
    return fill(to, pitch, value, width, height, stream);                                          \
  }
KG_FILLS(8, unsigned char)
KG_FILLS(16, unsigned short)
KG_FILLS(32, unsigned)
