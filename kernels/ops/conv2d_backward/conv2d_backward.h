// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// conv2d_backward: the gradients of a loss with respect to conv2d's x, weights and bias, from dy,
// the gradient with respect to y; each computed separately. With w the weights, and y[n][o][p] the
// sum over taps t and inputs c of x[n][c][p at t] w[o][c][t] (conv2d.h):
//   input:   dx[n][c][q] = sum over o, t and p, p at t = q, of dy[n][o][p] w[o][c][t]
//   weights: dw[o][c][t] = sum over n, p of dy[n][o][p] x[n][c][p at t]
//   bias:    db[o]       = sum over n, p of dy[n][o][p]
//
// Problem: dense tensors, aligned to T, in the layouts of ops/conv2d/geometry.h; outputs must not
// overlap the others.
//
// Rounding: sums are f32 for all types; products of f16 and bf16 are exact in f32. Each sum is
// rounded once to T. The order is fixed, without atomics: repeated runs on one device are
// bit-identical. The last bits of dw and db may differ with the number of multiprocessors.
//
// Special values: IEEE 754. A NaN or infinity reaches the gradients to which it contributes.
// Infinities of both signs in a sum, or infinity times 0, give NaN. Padding adds nothing in direct.
// In other variants it may add 0 times its factor: a weight that is not finite may make elements of
// dx at the border NaN; a dy that is not finite, weights whose taps lie in the padding. Sums start
// from +0; an empty sum is +0. Subnormals are kept.
#pragma once

#include "ops/conv2d/geometry.h"
#include "runtime/device_code.h"
#include "runtime/enumerators.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kg::conv2d_backward {

using conv2d::Geometry;
using conv2d::Layout;

enum class Gradient { input, weights, bias };
inline constexpr Gradient kGradients[] = {Gradient::input, Gradient::weights, Gradient::bias};

// direct: one thread per element of the gradient. implicit_gemm: for the input, conv2d's
// implicit_gemm on dy and transposed weights, once per phase of the strides; for the weights, a
// matrix product whose tiles gather x, on Tensor Cores for f16 and bf16. depthwise: for the input,
// as implicit_gemm but with conv2d's depthwise. vectorized: for the bias, with 16-byte accesses.
enum class Variant { automatic, direct, implicit_gemm, depthwise, vectorized };
inline constexpr Variant kVariants[] = {Variant::direct, Variant::implicit_gemm, Variant::depthwise,
                                        Variant::vectorized};

using kg::name;

using kg::name;

template <class T>
struct Problem {
  Geometry geometry;          // of the forward operation
  const T* dy = nullptr;      // shape of y
  const T* x = nullptr;       // read for the weights' gradient
  const T* weights = nullptr; // read for the input's gradient
  T* gradient = nullptr;      // shape of x, of the weights, or one element per output channel
  void* workspace = nullptr;  // workspace_bytes() bytes, aligned to 16
};

// Whether the variant exists for tensors of T on the current device; without a device, on any
// device. T: float, f16, bf16. implicit_gemm of f16 and bf16 needs the Tensor Cores of conv2d's.
template <class T>
bool supports(Gradient gradient, Variant variant, const Geometry& geometry);

// The variant that `automatic` selects.
template <class T>
Variant resolve(Gradient gradient, const Geometry& geometry);

// Bytes of device workspace that `run` needs, aligned to 16; may be 0.
template <class T>
std::size_t workspace_bytes(Gradient gradient, const Geometry& geometry, Variant variant);

// The number of elements of a gradient.
constexpr std::int64_t elements(Gradient gradient, const Geometry& g) {
  if (gradient == Gradient::bias) return g.out_channels;
  return gradient == Gradient::input ? g.inputs() : g.weights();
}

// Enqueues the operation and returns the variant that runs. For a batch of 0, the gradients of
// weights and bias are 0, and the input has no gradient. Throws Error for: a geometry that
// conv2d::require_geometry rejects; a required pointer that is null; a variant that the gradient,
// T, the device or the geometry does not support; more threads than a launch can have.
template <class T>
Variant run(Gradient gradient, const Problem<T>& problem, Variant variant, Stream& stream);

// Every tensor that the gradient needs is read once, and the gradient written once. 2 operations
// per product of the forward operation; for the bias, one per element of dy.
Work work(Gradient gradient, Dtype dtype, const Geometry& geometry);

} // namespace kg::conv2d_backward
