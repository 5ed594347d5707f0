// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// optimizer: one step of all parameters of a model, in one launch. With g = scale * gradient, rate
// r, decay w, and parameter p:
//
//   sgd        g += w p;  p -= r g
//   momentum   g += w p;  m = b1 m + g;  p -= r m
//   nesterov   g += w p;  m = b1 m + g;  p -= r (g + b1 m)
//   adam       g += w p;  m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;  p -= r step
//   adamw      m and v as adam's, of g without decay;  p = (1 - r w) p - r step
//   lion       c = b1 m + (1 - b1) g;  m = b2 m + (1 - b2) g;  p = (1 - r w) p - r sign(c)
//
// with step = (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + epsilon) in the t-th step. Sutskever et
// al., ICML 2013 (momentum, Nesterov, as PyTorch writes them); Kingma and Ba, arXiv 1412.6980
// (adam); Loshchilov and Hutter, arXiv 1711.05101 (adamw); Chen et al., arXiv 2302.06675 (lion).
//
// Problem: any number of tensors of any sizes, listed on the device once (Table) and updated by any
// number of steps. f32 parameters are updated in place. f16 and bf16 parameters have an f32 master
// copy, which is updated and then rounded to the parameter. Moments are always f32, and zero before
// the first step. Layout: packed, any alignment of the elements; outputs must not overlap anything
// else.
//
// Loss scaling and clipping need no host synchronization: `scale` is read on the device, where
// grad_norm writes it, and if `found_inf` is not 0 the step changes nothing. A skipped step does
// not count in t, which corrects adam's moments. A caller who counts skipped steps moves the
// corrections slightly closer to 1.
//
// Rounding: f32, with products and sums as optimizer.cu writes them; values that depend only on
// rates and betas are computed in f64 and rounded once. Special values: IEEE 754; sign(0) = 0,
// sign(NaN) is NaN. Without decay (w = 0), p is not read for it. Repeated runs are bit-identical.
#pragma once

#include "primitives/tensor_list.h"
#include "primitives/vectorization.h"
#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace kg::optimizer {

enum class Kind { sgd, momentum, nesterov, adam, adamw, lion };
inline constexpr Kind kKinds[] = {Kind::sgd,  Kind::momentum, Kind::nesterov,
                                  Kind::adam, Kind::adamw,    Kind::lion};
constexpr bool has_first(Kind kind) { return kind != Kind::sgd; }
constexpr bool has_second(Kind kind) { return kind == Kind::adam || kind == Kind::adamw; }

// One tensor. T: float, f16, bf16.
template <class T>
struct alignas(16) Parameter {
  std::int64_t size = 0;
  T* value = nullptr;
  const T* gradient = nullptr;
  float* master = nullptr; // of f16 and bf16
  float* first = nullptr;  // the moments that the kind uses
  float* second = nullptr;
};

// Scalar parameters of a step; fields that its kind does not use are ignored.
struct Step {
  double rate = 0;
  double beta1 = 0; // for momentum and nesterov, the momentum
  double beta2 = 0;
  double epsilon = 0;
  double decay = 0;
  std::int64_t number = 1;                 // t, from 1
  const float* scale = nullptr;            // on the device; null: 1
  const std::int32_t* found_inf = nullptr; // on the device; null: 0
};

// Tensors that were checked and listed on the device.
template <class T>
struct Table {
  Kind kind = Kind::sgd;
  TensorList<Parameter<T>> list = {};
};

// Bytes of device memory for a table; 0 if no tensor has elements.
template <class T>
std::size_t table_bytes(std::span<const Parameter<T>> parameters);

// Enqueues writing the table to `memory`, which has table_bytes(parameters) bytes, is aligned to 16
// and must live as long as the table. Throws Error naming the tensor and the field for: a negative
// size; a null pointer to elements that the kind needs; an output that overlaps anything else.
template <class T>
Table<T> make_table(Kind kind, std::span<const Parameter<T>> parameters, void* memory,
                    Stream& stream);

// naive: one thread per element. vectorized: accesses of four elements (16 bytes of f32) for each
// tensor whose arrays are all aligned to them; otherwise single elements.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues one step and returns the variant that runs; automatic selects vectorized. Throws Error
// naming the field for: a rate, epsilon or decay that is negative or not finite; a beta outside [0,
// 1); a number below 1. `scale` and `found_inf` must not overlap outputs.
template <class T>
Variant run(const Table<T>& table, const Step& step, Variant variant, Stream& stream);

// For `elements` in total: gradients read; moments and parameters, or masters, read and written;
// 16-bit parameters written.
template <class T>
Work work(Kind kind, std::int64_t elements, const Step& step);

} // namespace kg::optimizer
