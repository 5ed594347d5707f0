// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA names that the emulator does not support. Using one is a compile error that suggests an
// alternative (docs/reference/cuda_support.md).
#pragma once

#include "cuda/source/texture_types.h"

namespace kg::foreign {

template <class...>
inline constexpr bool supported = false; // dependent: an error only on use

} // namespace kg::foreign

// Replaces inline PTX with an expression, in the form of a lambda.
#define KG_NO_INLINE_PTX(...)                                                                      \
  [] {                                                                                             \
    static_assert(false, "Kernelgrade: inline PTX does not run on the CPU emulator; put the "      \
                         "instruction into a function of its own, in #ifndef KERNELGRADE_HOST, "   \
                         "and the same in C++ after #else");                                       \
  }()

// --- Textures and surfaces

using cudaSurfaceObject_t = unsigned long long;

inline constexpr int cudaTextureType1D = 1, cudaTextureType2D = 2, cudaTextureType3D = 3;

template <class T, int Dimensions = cudaTextureType1D,
          cudaTextureReadMode Mode = cudaReadModeElementType>
struct texture {
  static_assert(kg::foreign::supported<T>,
                "Kernelgrade: texture<> does not run on the CPU emulator (and is gone from CUDA "
                "12); make a texture object");
};

// Macros generate one template per name, which is an error only if it is used.
#define KG_UNSUPPORTED(name, instead)                                                              \
  template <class... T>                                                                            \
  auto name(T&&...) {                                                                              \
    static_assert(kg::foreign::supported<T...>,                                                    \
                  "Kernelgrade: " #name " does not run on the CPU emulator; " instead);            \
    return cudaErrorNotSupported;                                                                  \
  }
#define KG_NO_FETCH(name)                                                                          \
  KG_UNSUPPORTED_FETCH(name, "pass a const pointer and its pitch, and read through __ldg()")
#define KG_UNSUPPORTED_FETCH(name, instead)                                                        \
  template <class Value = float, class... T>                                                       \
  Value name(T&&...) {                                                                             \
    static_assert(kg::foreign::supported<T...>,                                                    \
                  "Kernelgrade: " #name " (textures) does not run on the CPU emulator; " instead); \
    return {};                                                                                     \
  }

KG_NO_FETCH(tex3D)
KG_NO_FETCH(tex1DLayered)
KG_NO_FETCH(tex2DLayered)
KG_NO_FETCH(tex2DLod)
KG_NO_FETCH(tex2Dgather)
KG_NO_FETCH(texCubemap)
KG_NO_FETCH(surf1Dread)
KG_NO_FETCH(surf2Dread)
KG_NO_FETCH(surf3Dread)
KG_NO_FETCH(surf1Dwrite)
KG_NO_FETCH(surf2Dwrite)
KG_NO_FETCH(surf3Dwrite)
#undef KG_NO_FETCH
#undef KG_UNSUPPORTED_FETCH

KG_UNSUPPORTED(cudaCreateSurfaceObject, "surfaces are not emulated: write global memory")
KG_UNSUPPORTED(cudaBindTexture, "make a texture object")
KG_UNSUPPORTED(cudaMalloc3DArray, "arrays have one or two dimensions: use cudaMalloc")

// --- Graphs

KG_UNSUPPORTED(cudaGraphAddMemAllocNode, "allocate before the graph is made")
KG_UNSUPPORTED(cudaGraphAddMemFreeNode, "free after the graph has run")
KG_UNSUPPORTED(cudaGraphConditionalHandleCreate,
               "decide on the host, and launch the graph it takes")
KG_UNSUPPORTED(cudaStreamBeginCaptureToGraph, "capture a graph of its own, and add it as a child")
#undef KG_UNSUPPORTED
