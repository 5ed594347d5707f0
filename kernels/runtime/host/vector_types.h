// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA's built-in vector types for the host backend: same names, sizes and alignments, in the
// global namespace. All are aggregates without constructors, so that a vectorized load or store is
// one access of the full width, as on a GPU.
#pragma once

#include "runtime/host/forceinline.h"

namespace kg::host {

// CUDA aligns a vector of 2 or 4 elements to its size, up to 16 bytes (CUDA C++ Programming Guide,
// table "Alignment Requirements of Built-in Vector Types"). Vectors of 1 and 3 elements have their
// element's alignment.
constexpr unsigned long vector_alignment(unsigned long bytes) { return bytes < 16 ? bytes : 16; }

} // namespace kg::host

// A macro, to generate the names char1, make_char1, char2, ... from one element type.
#define KG_VECTOR_TYPES(name, Element)                                                             \
  struct name##1 {                                                                                 \
    Element x;                                                                                     \
  };                                                                                               \
  struct alignas(kg::host::vector_alignment(2 * sizeof(Element))) name##2 {                        \
    Element x, y;                                                                                  \
  };                                                                                               \
  struct name##3 {                                                                                 \
    Element x, y, z;                                                                               \
  };                                                                                               \
  struct alignas(kg::host::vector_alignment(4 * sizeof(Element))) name##4 {                        \
    Element x, y, z, w;                                                                            \
  };                                                                                               \
  constexpr __forceinline__ name##1 make_##name##1(Element x) { return {x}; }                      \
  constexpr __forceinline__ name##2 make_##name##2(Element x, Element y) { return {x, y}; }        \
  constexpr __forceinline__ name##3 make_##name##3(Element x, Element y, Element z) {              \
    return {x, y, z};                                                                              \
  }                                                                                                \
  constexpr __forceinline__ name##4 make_##name##4(Element x, Element y, Element z, Element w) {   \
    return {x, y, z, w};                                                                           \
  }

KG_VECTOR_TYPES(char, signed char)
KG_VECTOR_TYPES(uchar, unsigned char)
KG_VECTOR_TYPES(short, short)
KG_VECTOR_TYPES(ushort, unsigned short)
KG_VECTOR_TYPES(int, int)
KG_VECTOR_TYPES(uint, unsigned int)
KG_VECTOR_TYPES(long, long)
KG_VECTOR_TYPES(ulong, unsigned long)
KG_VECTOR_TYPES(longlong, long long)
KG_VECTOR_TYPES(ulonglong, unsigned long long)
KG_VECTOR_TYPES(float, float)
KG_VECTOR_TYPES(double, double)
#undef KG_VECTOR_TYPES

// CUDA 13 adds vectors of four 8-byte elements with the alignment in the name (_16a, _32a), and
// deprecates double4 and its variants.
#define KG_ALIGNED_VECTOR_TYPE(name, Element, bytes)                                               \
  struct alignas(bytes) name##4_##bytes##a {                                                       \
    Element x, y, z, w;                                                                            \
  };                                                                                               \
  constexpr __forceinline__ name##4_##bytes##a make_##name##4_##bytes##a(Element x, Element y,     \
                                                                         Element z, Element w) {   \
    return {x, y, z, w};                                                                           \
  }

KG_ALIGNED_VECTOR_TYPE(long, long, 16)
KG_ALIGNED_VECTOR_TYPE(long, long, 32)
KG_ALIGNED_VECTOR_TYPE(ulong, unsigned long, 16)
KG_ALIGNED_VECTOR_TYPE(ulong, unsigned long, 32)
KG_ALIGNED_VECTOR_TYPE(longlong, long long, 16)
KG_ALIGNED_VECTOR_TYPE(longlong, long long, 32)
KG_ALIGNED_VECTOR_TYPE(ulonglong, unsigned long long, 16)
KG_ALIGNED_VECTOR_TYPE(ulonglong, unsigned long long, 32)
KG_ALIGNED_VECTOR_TYPE(double, double, 16)
KG_ALIGNED_VECTOR_TYPE(double, double, 32)
#undef KG_ALIGNED_VECTOR_TYPE

// The extents of a grid or a block. Unlike the vector types it has constructors; missing axes are
// 1.
struct dim3 {
  unsigned int x, y, z;

  constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 extent) : x(extent.x), y(extent.y), z(extent.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
