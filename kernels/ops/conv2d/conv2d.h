// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// conv2d: y = x * weights + bias as in neural networks: a cross-correlation over two spatial axes
// and all input channels of a group (geometry.h defines extents, layouts and windows).
//
// Problem: dense tensors, aligned to T; y must not overlap the others.
//
// Rounding: sums are f32 for all types; products of f16 and bf16 are exact in f32. The bias is
// added in f32, and the result is rounded once to T. direct, depthwise and jit add an output's
// products tap by tap with fused multiply-adds, row by row (depthwise in nchw: column by column);
// other variants add as gemm does. The order is fixed, so repeated runs are bit-identical.
//
// Special values: IEEE 754. A NaN or infinity in x reaches the outputs whose windows contain it; in
// the weights, the outputs of its channel. Infinities of both signs in a sum, or infinity times 0,
// give NaN. Padding adds nothing in direct and jit. It adds 0 times its weight in im2col and
// implicit_gemm, and in depthwise along rows (nhwc) or columns (nchw): there, a weight that is not
// finite may make outputs at the border NaN. A sum starts from +0. Subnormals are kept. A result
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

// direct: one thread per output. im2col: writes the windows to a matrix, `columns`, which gemm
// multiplies by the weights. implicit_gemm: the same product, whose tiles gather columns from x on
// the fly. depthwise: one input channel per output channel, kernels of at most kMostTaps taps; a
// thread computes several neighbouring outputs. jit: a kernel compiled at run time for one geometry
// and any batch. Compiling takes a second, so jit is only used on request and is not in kVariants.
enum class Variant { automatic, direct, im2col, implicit_gemm, depthwise, jit };
inline constexpr Variant kVariants[] = {Variant::direct, Variant::im2col, Variant::implicit_gemm,
                                        Variant::depthwise};

inline constexpr std::int64_t kMostTaps = 128;

using kg::name;

// Tile shapes of implicit_gemm for f16 and bf16 in nhwc with whole 16-byte vectors of input
// channels: 128 output channels by 128 positions, 64 by 256, or 256 by 128. automatic minimizes the
// modelled time. Ignored if only one shape is available, or the device lacks shared memory for wide
// tiles.
enum class MmaTiles { automatic, square, narrow, wide };

template <class T>
struct Problem {
  Geometry geometry;
  const T* x = nullptr;
  const T* weights = nullptr;
  const T* bias = nullptr; // out_channels elements; null: no bias
  T* y = nullptr;
  void* workspace = nullptr; // workspace_bytes() bytes, aligned to 16
  MmaTiles tiles = MmaTiles::automatic;
};

// Whether the variant exists for tensors of T on the current device; without a device, on any
// device, so that cases can be listed anywhere. T: float, f16, bf16. implicit_gemm of f16 and bf16
// needs the Tensor Cores that gemm's variant mma needs.
template <class T>
bool supports(Variant variant);
// The same for one geometry.
template <class T>
bool supports(Variant variant, const Geometry& geometry);

// The variant that `automatic` selects.
template <class T>
Variant resolve(const Geometry& geometry);

// The tile shape that implicit_gemm uses for the problem.
template <class T> // f16, bf16
MmaTiles tiles_of_mma(const Problem<T>& problem);

// Bytes of device workspace that `run` needs, aligned to 16; may be 0.
template <class T>
std::size_t workspace_bytes(const Geometry& geometry, Variant variant);

// Enqueues the operation and returns the variant that runs; launches nothing for a batch of 0.
// Throws Error for: a geometry that require_geometry rejects; a required pointer that is null; a
// variant that T, the device or the geometry does not support; more threads than a launch can have.
template <class T>
Variant run(const Problem<T>& problem, Variant variant, Stream& stream);

// Time to compile variant jit's kernel, and whether another process had already stored the result
// in the cache (runtime/jit.h).
struct Compilation {
  double us;
  bool from_cache;
};

// Compiles variant jit's kernel ahead of its first run. Throws Error as run does, and with the
// compiler's messages if it fails.
template <class T>
Compilation prepare_jit(const Geometry& geometry);

// x and weights are read once, y is written once; 2 operations per tap, input channel and output.
Work work(Dtype dtype, const Geometry& geometry);

} // namespace kg::conv2d
