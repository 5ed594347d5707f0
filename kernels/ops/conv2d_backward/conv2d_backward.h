// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// conv2d_backward: the gradients of a loss by conv2d's x, weights and bias, from the gradient dy by
// its y; each by itself. With w the weights, and y[n][o][p] the sum over taps t and inputs c of
// x[n][c][p at t] w[o][c][t] (conv2d.h):
//   input:   dx[n][c][q] = sum over o, t and p, p at t = q, of dy[n][o][p] w[o][c][t]
//   weights: dw[o][c][t] = sum over n, p of dy[n][o][p] x[n][c][p at t]
//   bias:    db[o]       = sum over n, p of dy[n][o][p]
//
// Problem: dense tensors of any alignment of T itself, in the layouts of ops/conv2d/geometry.h;
// what is written overlaps none of the others.
//
// Rounding: products are summed up in f32, also those of f16 and bf16, which are exact in it, and
// the sum is rounded once to T. In a fixed order, without atomics: repeated runs on one device are
// bit-identical; on another number of multiprocessors the last bits of dw and db may differ.
//
// Special values: IEEE 754. A NaN or infinity reaches the gradients in which it has a part;
// infinities of both signs in a sum, or an infinity times 0, give NaN. What lies in the padding
// adds nothing in direct; elsewhere it may add 0 times its factor: of a weight that is not finite,
// elements of dx at the border may become NaN, of a dy that is not finite, weights whose taps lie
// in the padding. A sum starts from +0, and one of nothing is +0. Subnormals are kept.
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

// direct: one thread per element of the gradient, which adds up its products. implicit_gemm: of the
// input that variant of conv2d, of dy and turned weights, for each phase of the strides; of the
// weights a matrix product whose tiles gather x, of f16 and bf16 on matrix units. depthwise: of the
// input, as implicit_gemm by that variant of conv2d. vectorized: of the bias, with 16-byte
// accesses.
enum class Variant { automatic, direct, implicit_gemm, depthwise, vectorized };
inline constexpr Variant kVariants[] = {Variant::direct, Variant::implicit_gemm, Variant::depthwise,
                                        Variant::vectorized};

using kg::name;

using kg::name;

template <class T>
struct Problem {
  Geometry geometry;          // of the forward operation
  const T* dy = nullptr;      // as y
  const T* x = nullptr;       // read for the weights' gradient
  const T* weights = nullptr; // read for the input's gradient
  T* gradient = nullptr;      // as x, as the weights, or one element per output channel
  void* workspace = nullptr;  // workspace_bytes, aligned to 16
};

// Whether there is such a variant for tensors of T on the current device, or without one on some
// device. T: float, f16, bf16. implicit_gemm of f16 and bf16 needs conv2d's matrix units.
template <class T>
bool supports(Gradient gradient, Variant variant, const Geometry& geometry);

// What `automatic` stands for.
template <class T>
Variant resolve(Gradient gradient, const Geometry& geometry);

// Bytes of device workspace that `run` needs, aligned to 16; may be 0.
template <class T>
std::size_t workspace_bytes(Gradient gradient, const Geometry& geometry, Variant variant);

// Elements of a gradient.
constexpr std::int64_t elements(Gradient gradient, const Geometry& g) {
  if (gradient == Gradient::bias) return g.out_channels;
  return gradient == Gradient::input ? g.inputs() : g.weights();
}

// Enqueues the operation and returns the variant that runs. Of a batch of 0 the gradients of the
// weights and of the bias are 0, and there is none of the input. Throws Error for a geometry that
// conv2d::require_geometry refuses, a null pointer where one is needed, a variant that the
// gradient, T, the device or the geometry does not have, or more threads than a launch can have.
template <class T>
Variant run(Gradient gradient, const Problem<T>& problem, Variant variant, Stream& stream);

// Each tensor that the gradient needs read once, and it written once; 2 operations per product of
// the forward operation, of the bias one per element of dy.
Work work(Gradient gradient, Dtype dtype, const Geometry& geometry);

} // namespace kg::conv2d_backward
