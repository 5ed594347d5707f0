// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// conv2d: y = x * weights + bias, as neural networks have it: a cross-correlation over two spatial
// axes and all input channels of a group (geometry.h has the extents, layouts and windows).
//
// Problem: dense tensors of any alignment of T itself; y overlaps none of the others.
//
// Rounding: products are summed up in f32, also those of f16 and bf16, which are exact in it; the
// bias is added in f32, and the result is rounded once to T. direct, depthwise and jit add the
// products of an output tap by tap by fused multiply-adds, row by row (depthwise in nchw: column by
// column), the others as gemm does. In a fixed order either way: repeated runs are bit-identical.
//
// Special values: IEEE 754. A NaN or infinity of x reaches the outputs whose windows hold it, one
// of the weights the outputs of its channel; infinities of both signs in a sum, or an infinity
// times 0, give NaN. Padding adds nothing in direct and jit, and 0 times its weight in im2col and
// implicit_gemm, in depthwise along rows (nhwc) or columns (nchw): of a weight that is not finite,
// outputs at the border may become NaN there. A sum starts from +0. Subnormals are kept. A result
// beyond the largest f16 is infinite.
#pragma once

#include "ops/conv2d/geometry.h"
#include "runtime/device_code.h"
#include "runtime/enumerators.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kg::conv2d {

// direct: one thread per output. im2col: the windows are written out as a matrix, `columns`, and
// gemm multiplies it with the weights. implicit_gemm: that product, whose tiles gather the columns
// from x as they need them. depthwise: where each output channel sees one input channel, for
// kernels of at most kMostTaps; a thread has several neighbouring outputs. jit: a kernel that is
// compiled at run time for one geometry of any batch; asked for by name alone, and not among
// kVariants, since compiling takes a second.
enum class Variant { automatic, direct, im2col, implicit_gemm, depthwise, jit };
inline constexpr Variant kVariants[] = {Variant::direct, Variant::im2col, Variant::implicit_gemm,
                                        Variant::depthwise};

inline constexpr std::int64_t kMostTaps = 128;

using kg::name;

// The tiles of implicit_gemm of f16 and bf16 in nhwc with whole packs of input channels: of 128
// output channels and 128 places, of 64 and 256, or of 256 and 128. Automatic: which keep the
// device busy for the shortest time. Where there is only one kind, or a device lacks the shared
// memory for wide ones, others are not heeded.
enum class MmaTiles { automatic, square, narrow, wide };

template <class T>
struct Problem {
  Geometry geometry;
  const T* x = nullptr;
  const T* weights = nullptr;
  const T* bias = nullptr; // out_channels elements; null: none
  T* y = nullptr;
  void* workspace = nullptr; // workspace_bytes, aligned to 16
  MmaTiles tiles = MmaTiles::automatic;
};

// Whether there is such a variant for tensors of T on the current device, or without one on some
// device: cases are listed anywhere. T: float, f16, bf16. implicit_gemm of f16 and bf16 needs the
// matrix units that gemm's variant mma needs.
template <class T>
bool supports(Variant variant);
// The same of one geometry.
template <class T>
bool supports(Variant variant, const Geometry& geometry);

// What `automatic` stands for.
template <class T>
Variant resolve(const Geometry& geometry);

// What the problem's tiles are where implicit_gemm runs.
template <class T> // f16, bf16
MmaTiles tiles_of_mma(const Problem<T>& problem);

// Bytes of device workspace that `run` needs, aligned to 16; may be 0.
template <class T>
std::size_t workspace_bytes(const Geometry& geometry, Variant variant);

// Enqueues the operation and returns the variant that runs. Nothing is launched for a batch of 0.
// Throws Error for a geometry that require_geometry refuses, a null pointer where one is needed, a
// variant that T, the device or the geometry does not have, or more threads than a launch can have.
template <class T>
Variant run(const Problem<T>& problem, Variant variant, Stream& stream);

// What compiling the kernel of variant jit took, and whether that was in another process, whose
// result lay in the cache (runtime/jit.h).
struct Compilation {
  double us;
  bool from_cache;
};

// Compiles variant jit's kernel ahead of its first run, which else does. Throws Error as run, and
// with the compiler's words where it refuses.
template <class T>
Compilation prepare_jit(const Geometry& geometry);

// x and weights read once, y written once; 2 operations per tap, input channel and output.
Work work(Dtype dtype, const Geometry& geometry);

} // namespace kg::conv2d
