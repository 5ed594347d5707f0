// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/source/texture.h"

#include "cuda/source/handles.h"
#include "runtime/host/block.h"

// Rows without gaps; a one-dimensional array has one row. The memory comes from cudaMalloc.
struct cudaArray {
  cudaChannelFormatDesc format;
  std::size_t width, height, pitch;
  unsigned char* data;
};

namespace kg::foreign {
namespace {

Handles<cudaArray>& arrays() {
  static auto& instance = *new Handles<cudaArray>;
  return instance;
}
Handles<Texture>& textures() {
  static auto& instance = *new Handles<Texture>;
  return instance;
}

int channels_of(const cudaChannelFormatDesc& format) {
  return (format.x != 0) + (format.y != 0) + (format.z != 0) + (format.w != 0);
}

std::size_t texel_bytes(const cudaChannelFormatDesc& format) {
  const int count = channels_of(format);
  const auto alike = [&](int bits) { return bits == 0 || bits == format.x; };
  demand((format.x == 8 || format.x == 16 || format.x == 32) && count != 3 && alike(format.y) &&
             alike(format.z) && alike(format.w) &&
             (format.f != cudaChannelFormatKindFloat || format.x == 32),
         cudaErrorInvalidChannelDescriptor,
         "a texel has 1, 2 or 4 channels, all of 8, 16 or 32 bits, of floats 32");
  return static_cast<std::size_t>(count * format.x / 8);
}

// Runs copy(first byte, pitch) for `width` bytes of `height` rows at (x, y), if the array has them.
// If the copy is not by rows, `height` is 1 and the copy may continue into the next rows.
template <class Copy>
cudaError_t in_array(const char* name, cudaArray_t handle, std::size_t x, std::size_t y,
                     std::size_t width, std::size_t height, bool rows, Copy copy) {
  unsigned char* first = nullptr;
  std::size_t pitch = 0;
  const cudaError_t refused = call(name, [&] {
    const cudaArray& array = arrays().get(handle, "array");
    const bool inside = x <= array.pitch && y < array.height && height <= array.height - y;
    const std::size_t left = !inside ? 0
                             : rows  ? array.pitch - x
                                     : array.pitch * (array.height - y) - x;
    demand(inside && width <= left, cudaErrorInvalidValue,
           "the array has " + std::to_string(array.height) + " rows of " +
               std::to_string(array.pitch) + " bytes");
    first = array.data + y * array.pitch + x;
    pitch = array.pitch;
  });
  return refused != cudaSuccess ? refused : copy(first, pitch);
}

// The texture on a resource. Linear memory is one row of texels.
Texture texture_on(const cudaResourceDesc& resource, const cudaTextureDesc& how) {
  Texture made{};
  made.how = how;
  made.height = 1;
  switch (resource.resType) {
  case cudaResourceTypeArray: {
    const cudaArray& array = arrays().get(resource.res.array.array, "array");
    made.data = array.data;
    made.format = array.format;
    made.width = array.width;
    made.height = array.height;
    made.pitch = array.pitch;
    break;
  }
  case cudaResourceTypeLinear:
    made.data = static_cast<const unsigned char*>(resource.res.linear.devPtr);
    made.format = resource.res.linear.desc;
    made.width = resource.res.linear.sizeInBytes / texel_bytes(made.format);
    made.pitch = resource.res.linear.sizeInBytes;
    made.how.addressMode[0] = cudaAddressModeBorder; // tex1Dfetch returns 0 outside
    break;
  case cudaResourceTypePitch2D:
    made.data = static_cast<const unsigned char*>(resource.res.pitch2D.devPtr);
    made.format = resource.res.pitch2D.desc;
    made.width = resource.res.pitch2D.width;
    made.height = resource.res.pitch2D.height;
    made.pitch = resource.res.pitch2D.pitchInBytes;
    break;
  default:
    throw Refusal(cudaErrorNotSupported, "a mipmapped array does not run on the CPU emulator");
  }
  made.texel_bytes = texel_bytes(made.format);
  return made;
}

} // namespace

cudaChannelFormatDesc array_format(cudaArray_t array) {
  return arrays().get(array, "array").format;
}

Texture texture_of(cudaTextureObject_t object, Location where) {
  try {
    return textures().get(reinterpret_cast<Texture*>(object), "texture object");
  } catch (const Refusal& refusal) {
    host::running_block("a texture", where).trap(refusal.what(), where);
  }
}

Texture texture_of(cudaTextureObject_t object, int channels, std::size_t channel_bytes,
                   Location where) {
  const Texture texture = texture_of(object, where);
  const bool converts = texture.how.readMode == cudaReadModeNormalizedFloat &&
                        texture.format.f != cudaChannelFormatKindFloat;
  const std::size_t bytes =
      converts ? sizeof(float) : static_cast<std::size_t>(texture.format.x) / 8;
  if (channels == channels_of(texture.format) && channel_bytes == bytes) return texture;
  host::running_block("a texture", where)
      .trap("a fetch of " + std::to_string(channels) + " channels of " +
                std::to_string(channel_bytes) + " bytes from a texture of " +
                std::to_string(channels_of(texture.format)) + " of " + std::to_string(bytes),
            where);
}

} // namespace kg::foreign

using namespace kg::foreign;

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                            std::size_t width, std::size_t height, unsigned) {
  void* data = nullptr;
  auto made = std::make_unique<cudaArray>();
  const cudaError_t refused = call("cudaMallocArray", [&] {
    demand(array && format, cudaErrorInvalidValue, "a pointer is null");
    demand(width != 0, cudaErrorInvalidValue, "the array has no width");
    *made = {*format, width, height == 0 ? 1 : height, width * texel_bytes(*format), nullptr};
  });
  if (refused != cudaSuccess) return refused;
  if (const cudaError_t error = cudaMalloc(&data, made->pitch * made->height)) return error;
  made->data = static_cast<unsigned char*>(data);
  *array = arrays().add(std::move(made));
  return cudaSuccess;
}
cudaError_t cudaFreeArray(cudaArray_t array) {
  if (!array) return cudaSuccess;
  unsigned char* data = nullptr;
  const cudaError_t refused = call("cudaFreeArray", [&] {
    data = arrays().get(array, "array").data;
    arrays().remove(array, "array");
  });
  return refused != cudaSuccess ? refused : cudaFree(data);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                std::size_t pitch, std::size_t width, std::size_t height,
                                cudaMemcpyKind kind) {
  return in_array("cudaMemcpy2DToArray", to, x, y, width, height, true,
                  [&](void* first, std::size_t own) {
                    return cudaMemcpy2D(first, own, from, pitch, width, height, kind);
                  });
}
cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_t from, std::size_t x,
                                  std::size_t y, std::size_t width, std::size_t height,
                                  cudaMemcpyKind kind) {
  return in_array("cudaMemcpy2DFromArray", from, x, y, width, height, true,
                  [&](const void* first, std::size_t own) {
                    return cudaMemcpy2D(to, pitch, first, own, width, height, kind);
                  });
}
cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                              std::size_t bytes, cudaMemcpyKind kind) {
  return in_array("cudaMemcpyToArray", to, x, y, bytes, 1, false,
                  [&](void* first, std::size_t) { return cudaMemcpy(first, from, bytes, kind); });
}
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_t from, std::size_t x, std::size_t y,
                                std::size_t bytes, cudaMemcpyKind kind) {
  return in_array(
      "cudaMemcpyFromArray", from, x, y, bytes, 1, false,
      [&](const void* first, std::size_t) { return cudaMemcpy(to, first, bytes, kind); });
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* how, const cudaResourceViewDesc* view) {
  return call("cudaCreateTextureObject", [&] {
    demand(object && resource && how, cudaErrorInvalidValue, "a pointer is null");
    demand(!view, cudaErrorNotSupported, "a view of a resource does not run on the CPU emulator");
    auto made = std::make_unique<Texture>(texture_on(*resource, *how));
    demand_on_device(made->data, made->pitch * made->height, "the texture");
    demand(made->width * made->texel_bytes <= made->pitch, cudaErrorInvalidPitchValue,
           "the rows are wider than the pitch");
    const bool gives_floats = made->format.f == cudaChannelFormatKindFloat ||
                              (how->readMode == cudaReadModeNormalizedFloat && made->format.x < 32);
    demand(gives_floats ||
               (how->readMode == cudaReadModeElementType && how->filterMode == cudaFilterModePoint),
           cudaErrorInvalidValue,
           "integers are filtered as normalized floats, and normalized from 8 and 16 bits");
    demand(!how->sRGB, cudaErrorNotSupported, "sRGB does not run on the CPU emulator");
    for (float border : how->borderColor)
      demand(border == 0, cudaErrorNotSupported, "the border is 0 on the CPU emulator");
    // Only normalized coordinates wrap (CUDA C++ Programming Guide, "Texture Memory").
    for (cudaTextureAddressMode& mode : made->how.addressMode) {
      if (!how->normalizedCoords && (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror))
        mode = cudaAddressModeClamp;
    }
    *object = reinterpret_cast<cudaTextureObject_t>(textures().add(std::move(made)));
  });
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  return call("cudaDestroyTextureObject",
              [&] { textures().remove(reinterpret_cast<Texture*>(object), "texture object"); });
}
