// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The C interface of libcudart for arrays and texture objects, and texture fetches in PTX
// (runtime/ptx/texture.h), by the source API (cuda/source/texture.h), one channel at a time.
#include "cuda/source/texture.h"

#include "cuda/binary/export.h"
#include "runtime/host/block.h"
#include "runtime/ptx/texture.h"

#include <bit>

namespace kg::ptx_run {
namespace {

using foreign::Texture;

struct Coordinates {
  float x = 0, y = 0;
  std::int32_t index = 0;
  bool by_index = false;
};

// The channel as 32 bits. A signed integer is sign-extended.
template <class T>
u32 channel(const Texture& texture, const Coordinates& at) {
  const T value = at.by_index ? foreign::texel<T>(texture, at.index, 0)
                              : foreign::fetch<T>(texture, at.x, at.y);
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<u32>(value);
  else
    return static_cast<u32>(static_cast<std::int32_t>(value));
}

u32 integer_channel(const Texture& texture, const Coordinates& at) {
  const bool is_signed = texture.format.f == cudaChannelFormatKindSigned;
  switch (texture.format.x) {
  case 8: return is_signed ? channel<s8>(texture, at) : channel<u8>(texture, at);
  case 16: return is_signed ? channel<s16>(texture, at) : channel<u16>(texture, at);
  default: return is_signed ? channel<s32>(texture, at) : channel<u32>(texture, at);
  }
}

} // namespace

void fetch_texture(u32* out, u64 object, const u32* at, u32 dimensions, bool by_index,
                   char channels, LoadChannel load, Where where) {
  const Location here{where.file, where.line};
  Texture texture = foreign::texture_of(object, here);
  const bool gives_floats = texture.format.f == cudaChannelFormatKindFloat ||
                            texture.how.readMode == cudaReadModeNormalizedFloat;
  if (gives_floats != (channels == 'f'))
    host::running_block("a texture", here)
        .trap(gives_floats ? "a fetch of integers from a texture of floats"
                           : "a fetch of floats from a texture of integers",
              here);
  texture.load = load;
  Coordinates to{.index = static_cast<std::int32_t>(at[0]), .by_index = by_index};
  if (!by_index) {
    to.x = std::bit_cast<float>(at[0]);
    if (dimensions == 2) to.y = std::bit_cast<float>(at[1]);
  }
  const int bits[] = {texture.format.x, texture.format.y, texture.format.z, texture.format.w};
  for (int c = 0; c < 4; ++c) {
    out[c] = bits[c] == 0   ? 0
             : gives_floats ? channel<float>(texture, to)
                            : integer_channel(texture, to);
    texture.data += texture.format.x / 8;
  }
}

} // namespace kg::ptx_run

KG_EXPORT(cudaChannelFormatDesc, cudaCreateChannelDesc,
          (int x, int y, int z, int w, cudaChannelFormatKind kind),
          cudaCreateChannelDesc(x, y, z, w, kind))
KG_EXPORT(cudaError_t, cudaMallocArray,
          (cudaArray_t * array, const cudaChannelFormatDesc* format, std::size_t width,
           std::size_t height, unsigned flags),
          cudaMallocArray(array, format, width, height, flags))
KG_EXPORT(cudaError_t, cudaFreeArray, (cudaArray_t array), cudaFreeArray(array))
KG_EXPORT_PER_THREAD(cudaError_t, cudaMemcpy2DToArray, _ptds,
                     (cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                      std::size_t pitch, std::size_t width, std::size_t height,
                      cudaMemcpyKind kind),
                     cudaMemcpy2DToArray(to, x, y, from, pitch, width, height, kind))
KG_EXPORT_PER_THREAD(cudaError_t, cudaMemcpy2DFromArray, _ptds,
                     (void* to, std::size_t pitch, cudaArray_t from, std::size_t x, std::size_t y,
                      std::size_t width, std::size_t height, cudaMemcpyKind kind),
                     cudaMemcpy2DFromArray(to, pitch, from, x, y, width, height, kind))
KG_EXPORT_PER_THREAD(cudaError_t, cudaMemcpyToArray, _ptds,
                     (cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                      std::size_t bytes, cudaMemcpyKind kind),
                     cudaMemcpyToArray(to, x, y, from, bytes, kind))
KG_EXPORT_PER_THREAD(cudaError_t, cudaMemcpyFromArray, _ptds,
                     (void* to, cudaArray_t from, std::size_t x, std::size_t y, std::size_t bytes,
                      cudaMemcpyKind kind),
                     cudaMemcpyFromArray(to, from, x, y, bytes, kind))
KG_EXPORT(cudaError_t, cudaCreateTextureObject,
          (cudaTextureObject_t * object, const cudaResourceDesc* resource,
           const cudaTextureDesc* how, const cudaResourceViewDesc* view),
          cudaCreateTextureObject(object, resource, how, view))
KG_EXPORT(cudaError_t, cudaDestroyTextureObject, (cudaTextureObject_t object),
          cudaDestroyTextureObject(object))
