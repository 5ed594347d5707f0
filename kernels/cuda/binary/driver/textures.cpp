// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Arrays of one and two dimensions, and texture objects on them or on linear memory.
#include "cuda/binary/driver/call.h"
#include "cuda/source/texture.h"

#include <algorithm>

namespace kg::emulate {
namespace {

cudaArray_t runtime_array(CUarray array) { return reinterpret_cast<cudaArray_t>(array); }

cudaChannelFormatDesc format_of(CUarray_format format, unsigned channels) {
  struct Known {
    CUarray_format format;
    int bits;
    cudaChannelFormatKind kind;
  };
  constexpr Known kKnown[] = {{CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned},
                              {CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned},
                              {CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned},
                              {CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned},
                              {CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned},
                              {CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned},
                              {CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat}};
  const auto found =
      std::ranges::find_if(kKnown, [&](const Known& one) { return one.format == format; });
  demand(found != std::end(kKnown), CUDA_ERROR_NOT_SUPPORTED,
         "array format " + std::to_string(format) + "; integers of 8 to 32 bits and floats run");
  demand(channels == 1 || channels == 2 || channels == 4, CUDA_ERROR_INVALID_VALUE,
         std::to_string(channels) + " channels; an array has 1, 2 or 4");
  const auto bits = [&](unsigned channel) { return channel < channels ? found->bits : 0; };
  return {bits(0), bits(1), bits(2), bits(3), found->kind};
}

CUresult create(CUarray* array, CUarray_format format, unsigned channels, std::size_t width,
                std::size_t height) {
  cudaChannelFormatDesc channel{};
  const CUresult error = driver("cuArrayCreate", [&] {
    demand_pointer(array, "pHandle");
    channel = format_of(format, channels);
  });
  if (error) return error;
  cudaArray_t made = nullptr;
  const CUresult refused = code_of(cudaMallocArray(&made, &channel, width, height, 0));
  if (!refused) *array = reinterpret_cast<CUarray>(made);
  return refused;
}

cudaResourceDesc resource_of(const CUDA_RESOURCE_DESC& given) {
  cudaResourceDesc resource{};
  resource.resType = static_cast<cudaResourceType>(given.resType);
  if (given.resType == CU_RESOURCE_TYPE_ARRAY) {
    resource.res.array.array = runtime_array(given.res.array.hArray);
  } else if (given.resType == CU_RESOURCE_TYPE_LINEAR) {
    const auto& from = given.res.linear;
    resource.res.linear = {pointer_to(from.devPtr), format_of(from.format, from.numChannels),
                           from.sizeInBytes};
  } else if (given.resType == CU_RESOURCE_TYPE_PITCH2D) {
    const auto& from = given.res.pitch2D;
    resource.res.pitch2D = {pointer_to(from.devPtr), format_of(from.format, from.numChannels),
                            from.width, from.height, from.pitchInBytes};
  }
  return resource;
}

bool is_integer_32(const CUDA_RESOURCE_DESC& given) {
  const auto is = [](CUarray_format format) {
    return format == CU_AD_FORMAT_UNSIGNED_INT32 || format == CU_AD_FORMAT_SIGNED_INT32;
  };
  if (given.resType == CU_RESOURCE_TYPE_LINEAR) return is(given.res.linear.format);
  if (given.resType == CU_RESOURCE_TYPE_PITCH2D) return is(given.res.pitch2D.format);
  const cudaChannelFormatDesc format = foreign::array_format(runtime_array(given.res.array.hArray));
  return format.x == 32 && format.f != cudaChannelFormatKindFloat;
}

// Integers of 8 and 16 bits are read as fractions unless CU_TRSF_READ_AS_INTEGER is set.
cudaTextureDesc reading(const CUDA_TEXTURE_DESC& given, const CUDA_RESOURCE_DESC& resource) {
  cudaTextureDesc how{};
  for (int i = 0; i < 3; ++i)
    how.addressMode[i] = static_cast<cudaTextureAddressMode>(given.addressMode[i]);
  how.filterMode = static_cast<cudaTextureFilterMode>(given.filterMode);
  how.readMode = (given.flags & CU_TRSF_READ_AS_INTEGER) != 0 || is_integer_32(resource)
                     ? cudaReadModeElementType
                     : cudaReadModeNormalizedFloat;
  how.normalizedCoords = (given.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  how.sRGB = (given.flags & CU_TRSF_SRGB) != 0;
  std::copy_n(given.borderColor, 4, how.borderColor);
  return how;
}

} // namespace
} // namespace kg::emulate

using namespace kg::emulate;

KG_DRIVER cuArrayCreate(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* given) {
  if (!given) return CUDA_ERROR_INVALID_VALUE;
  return create(array, given->Format, given->NumChannels, given->Width, given->Height);
}
KG_DRIVER cuArray3DCreate(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* given) {
  if (!given) return CUDA_ERROR_INVALID_VALUE;
  const CUresult error = driver("cuArray3DCreate", [&] {
    demand(given->Depth == 0 && (given->Flags & ~unsigned{CUDA_ARRAY3D_SURFACE_LDST}) == 0,
           CUDA_ERROR_NOT_SUPPORTED, "arrays have one or two dimensions and no layers here");
  });
  return error ? error
               : create(array, given->Format, given->NumChannels, given->Width, given->Height);
}
KG_DRIVER cuArrayDestroy(CUarray array) {
  if (!array) return CUDA_ERROR_INVALID_HANDLE;
  return by_runtime(cudaFreeArray, runtime_array(array));
}
KG_DRIVER cuTexObjectCreate(CUtexObject* object, const CUDA_RESOURCE_DESC* resource,
                            const CUDA_TEXTURE_DESC* how, const CUDA_RESOURCE_VIEW_DESC* view) {
  return driver("cuTexObjectCreate", [&] {
    demand_pointer(object, "pTexObject");
    demand_pointer(resource, "pResDesc");
    demand_pointer(how, "pTexDesc");
    demand(!view, CUDA_ERROR_NOT_SUPPORTED, "a view of a resource does not run here");
    const cudaResourceDesc on = resource_of(*resource);
    const cudaTextureDesc read = reading(*how, *resource);
    cudaTextureObject_t made = 0;
    const cudaError_t error = cudaCreateTextureObject(&made, &on, &read, nullptr);
    kg::foreign::demand(error == cudaSuccess, error, "the texture is refused");
    *object = made;
  });
}
KG_DRIVER cuTexObjectDestroy(CUtexObject object) {
  return by_runtime(cudaDestroyTextureObject, static_cast<cudaTextureObject_t>(object));
}

// --- Copies with arrays; the offset is in bytes of a row

KG_DRIVER cuMemcpyHtoA(CUarray to, std::size_t offset, const void* from, std::size_t bytes) {
  return by_runtime(cudaMemcpyToArray, runtime_array(to), offset, std::size_t{0}, from, bytes,
                    cudaMemcpyHostToDevice);
}
KG_DRIVER cuMemcpyDtoA(CUarray to, std::size_t offset, CUdeviceptr from, std::size_t bytes) {
  return by_runtime(cudaMemcpyToArray, runtime_array(to), offset, std::size_t{0}, pointer_to(from),
                    bytes, cudaMemcpyDeviceToDevice);
}
KG_DRIVER cuMemcpyAtoH(void* to, CUarray from, std::size_t offset, std::size_t bytes) {
  return by_runtime(cudaMemcpyFromArray, to, runtime_array(from), offset, std::size_t{0}, bytes,
                    cudaMemcpyDeviceToHost);
}
KG_DRIVER cuMemcpyAtoD(CUdeviceptr to, CUarray from, std::size_t offset, std::size_t bytes) {
  return by_runtime(cudaMemcpyFromArray, pointer_to(to), runtime_array(from), offset,
                    std::size_t{0}, bytes, cudaMemcpyDeviceToDevice);
}
