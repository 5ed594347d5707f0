// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Texture objects of one and two dimensions (CUDA C++ Programming Guide, "Texture Fetching"). A
// texel is loaded by an ordinary access, which the checkers see. Arrays are dense rows in ordinary
// device memory (texture.cpp).
#pragma once

#include "cuda/source/api.h"
#include "cuda/source/texture_types.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace kg::foreign {

// The target of a texture object.
struct Texture {
  const unsigned char* data;
  std::size_t width, height, pitch; // texels, rows, bytes
  std::size_t texel_bytes;
  cudaChannelFormatDesc format;
  cudaTextureDesc how;
  // Loads a channel of `bytes` bytes, zero-extended. Null: an ordinary access.
  std::uint32_t (*load)(const void* from, std::uint32_t bytes) = nullptr;
};

// A copy of the object's texture. Traps if the handle is invalid.
Texture texture_of(cudaTextureObject_t object, Location where);
// The same, for a fetch that returns `channels` channels of `channel_bytes` bytes. Traps if the
// texture has a different format.
Texture texture_of(cudaTextureObject_t object, int channels, std::size_t channel_bytes,
                   Location where);

cudaChannelFormatDesc array_format(cudaArray_t array); // refuses what is not an array

// The channel type of a texel: that of the vector's components, or T itself.
template <class T, class = void>
struct ChannelOf {
  using Type = T;
};
template <class T>
struct ChannelOf<T, std::void_t<decltype(T::x)>> {
  using Type = decltype(T::x);
};
template <class T>
using Channel = typename ChannelOf<T>::Type;
template <class T>
inline constexpr int channels = sizeof(T) / sizeof(Channel<T>);

// Maps index `i` into the `n` texels. Returns false for a border texel, whose value is 0.
inline bool addressed(long long& i, std::size_t n, cudaTextureAddressMode mode) {
  const auto size = static_cast<long long>(n);
  const auto modulo = [](long long a, long long b) { return (a % b + b) % b; };
  switch (mode) {
  case cudaAddressModeWrap: i = modulo(i, size); return true;
  case cudaAddressModeMirror:
    i = modulo(i, 2 * size);
    i = std::min(i, 2 * size - 1 - i);
    return true;
  case cudaAddressModeBorder: return i >= 0 && i < size;
  case cudaAddressModeClamp: break;
  }
  i = std::clamp(i, 0LL, size - 1);
  return true;
}

// A finding about a texel names the innermost line outside of the runtime. The functions below are
// therefore inlined into the kernel.

// One texel with channels stored as `Stored`: unchanged, or an integer range normalized to 0 to 1
// (signed: -1 to 1).
template <class Stored, class T>
__forceinline__ T texel_at(const Texture& texture, const unsigned char* address) {
  T texel;
  auto* const to = reinterpret_cast<Channel<T>*>(&texel);
  const auto* const from = reinterpret_cast<const Stored*>(address);
  for (int c = 0; c < channels<T>; ++c) {
    Stored channel;
    if (texture.load) {
      const std::uint32_t bits = texture.load(from + c, sizeof(Stored));
      std::memcpy(&channel, &bits, sizeof channel); // little-endian
    } else {
      channel = from[c];
    }
    if constexpr (std::is_same_v<Stored, Channel<T>>) {
      to[c] = channel;
    } else {
      constexpr float kMost = std::numeric_limits<Stored>::max();
      to[c] = std::max(-1.0f, static_cast<float>(channel) / kMost);
    }
  }
  return texel;
}

template <class T>
__forceinline__ T texel(const Texture& texture, long long i, long long j) {
  if (!addressed(i, texture.width, texture.how.addressMode[0]) ||
      !addressed(j, texture.height, texture.how.addressMode[1]))
    return T{};
  const unsigned char* const at = texture.data + static_cast<std::size_t>(j) * texture.pitch +
                                  static_cast<std::size_t>(i) * texture.texel_bytes;
  if constexpr (std::is_same_v<Channel<T>, float>) {
    const bool is_signed = texture.format.f == cudaChannelFormatKindSigned;
    if (texture.how.readMode == cudaReadModeNormalizedFloat && texture.format.x == 8)
      return is_signed ? texel_at<std::int8_t, T>(texture, at)
                       : texel_at<std::uint8_t, T>(texture, at);
    if (texture.how.readMode == cudaReadModeNormalizedFloat && texture.format.x == 16)
      return is_signed ? texel_at<std::int16_t, T>(texture, at)
                       : texel_at<std::uint16_t, T>(texture, at);
  }
  return texel_at<Channel<T>, T>(texture, at);
}

// The position of a coordinate between two texels: the index of the lower texel, and the weight of
// the upper one. A GPU keeps 8 bits of the weight.
struct Between {
  long long index;
  float weight;
};
inline Between between(float coordinate) {
  const float lower = std::floor(coordinate - 0.5f);
  return {static_cast<long long>(lower),
          std::floor((coordinate - 0.5f - lower) * 256 + 0.5f) / 256};
}

template <class T>
Texture texture_for(cudaTextureObject_t object, Location where) {
  return texture_of(object, channels<T>, sizeof(Channel<T>), where);
}

template <class T>
__forceinline__ T fetch(const Texture& texture, float x, float y) {
  if (texture.how.normalizedCoords) {
    x *= static_cast<float>(texture.width);
    y *= static_cast<float>(texture.height);
  }
  if constexpr (std::is_same_v<Channel<T>, float>) {
    if (texture.how.filterMode == cudaFilterModeLinear) {
      const Between column = between(x);
      // A single row has no neighbour: use the coordinate of its centre.
      const Between row = between(texture.height == 1 ? 0.5f : y);
      T sum{};
      for (int dj = 0; dj < (row.weight == 0 ? 1 : 2); ++dj) {
        for (int di = 0; di < 2; ++di) {
          const T one = texel<T>(texture, column.index + di, row.index + dj);
          const float weight = (di == 0 ? 1 - column.weight : column.weight) *
                               (dj == 0 ? 1 - row.weight : row.weight);
          for (int c = 0; c < channels<T>; ++c)
            reinterpret_cast<float*>(&sum)[c] += weight * reinterpret_cast<const float*>(&one)[c];
        }
      }
      return sum;
    }
  }
  return texel<T>(texture, static_cast<long long>(std::floor(x)),
                  static_cast<long long>(std::floor(y)));
}

} // namespace kg::foreign

template <class T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
  using Channel = kg::foreign::Channel<T>;
  const int count = kg::foreign::channels<T>, bits = 8 * sizeof(Channel);
  return {bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0,
          std::is_floating_point_v<Channel> ? cudaChannelFormatKindFloat
          : std::is_signed_v<Channel>       ? cudaChannelFormatKindSigned
                                            : cudaChannelFormatKindUnsigned};
}

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                            std::size_t width, std::size_t height = 0, unsigned flags = 0);
cudaError_t cudaFreeArray(cudaArray_t array);
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                std::size_t pitch, std::size_t width, std::size_t height,
                                cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_t from, std::size_t x,
                                  std::size_t y, std::size_t width, std::size_t height,
                                  cudaMemcpyKind kind);
// Treats the rows of the array as contiguous.
cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                              std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_t from, std::size_t x, std::size_t y,
                                std::size_t bytes, cudaMemcpyKind kind);

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* how, const cudaResourceViewDesc* view);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object);

template <class T>
__forceinline__ T tex2D(cudaTextureObject_t object, float x, float y,
                        kg::Location where = kg::Location::here()) {
  return kg::foreign::fetch<T>(kg::foreign::texture_for<T>(object, where), x, y);
}
template <class T>
__forceinline__ T tex1D(cudaTextureObject_t object, float x,
                        kg::Location where = kg::Location::here()) {
  return tex2D<T>(object, x, 0, where);
}
// Reads linear memory by index.
template <class T>
__forceinline__ T tex1Dfetch(cudaTextureObject_t object, int i,
                             kg::Location where = kg::Location::here()) {
  return kg::foreign::texel<T>(kg::foreign::texture_for<T>(object, where), i, 0);
}
