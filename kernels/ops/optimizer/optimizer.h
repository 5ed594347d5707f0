// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// optimizer: one step of all parameters of a model, in one launch. With g = scale * gradient, rate
// r, decay w, and p the parameter:
//
//   sgd        g += w p;  p -= r g
//   momentum   g += w p;  m = b1 m + g;  p -= r m
//   nesterov   g += w p;  m = b1 m + g;  p -= r (g + b1 m)
//   adam       g += w p;  m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;  p -= r step
//   adamw      m and v as adam's, of g without decay;  p = (1 - r w) p - r step
//   lion       c = b1 m + (1 - b1) g;  m = b2 m + (1 - b2) g;  p = (1 - r w) p - r sign(c)
//
// where step = (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + epsilon) in the t-th step. Sutskever et
// al., ICML 2013 (momentum, Nesterov, as PyTorch writes them); Kingma and Ba, arXiv 1412.6980
// (adam); Loshchilov and Hutter, arXiv 1711.05101 (adamw); Chen et al., arXiv 2302.06675 (lion).
//
// Problem: any number of tensors of any sizes, listed on the device once (Table) and stepped as
// often as wanted. Parameters in f32 are updated in place. Those in f16 or bf16 have a master copy
// in f32, which is read and updated, and become it, rounded; moments are f32 always, and zero
// before the first step. Layout: packed, any alignment of the elements; nothing that is written may
// overlap anything else.
//
// Loss scaling and clipping wait for nobody: `scale` is read on the device, as grad_norm leaves it
// there, and where `found_inf` is not 0 the step leaves every bit as it is. A skipped step is none
// of the t that correct adam's moments; a caller who counts it for not having looked moves the
// corrections that much closer to 1.
//
// Rounding: in f32, products and sums as optimizer.cu writes them; what depends on rates and betas
// alone is computed in f64 and rounded once. Special values: IEEE 754; sign(0) = 0, sign(NaN) is
// NaN. No decay (w = 0) does not look at p. Repeated runs are bit-identical.
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
  float* first = nullptr;  // the moments that the kind has
  float* second = nullptr;
};

// What one step takes beside the tensors; fields that its kind has not are not looked at.
struct Step {
  double rate = 0;
  double beta1 = 0; // of momentum and nesterov: the momentum
  double beta2 = 0;
  double epsilon = 0;
  double decay = 0;
  std::int64_t number = 1;                 // t, from 1
  const float* scale = nullptr;            // on the device; null: 1
  const std::int32_t* found_inf = nullptr; // on the device; null: 0
};

// The tensors, checked and listed on the device.
template <class T>
struct Table {
  Kind kind = Kind::sgd;
  TensorList<Parameter<T>> list = {};
};

// Device memory that a table takes; 0 where no tensor has elements.
template <class T>
std::size_t table_bytes(std::span<const Parameter<T>> parameters);

// Enqueues the writing of it; `memory` has table_bytes(parameters) bytes, is aligned to 16 and
// stays as long as the table is used. Throws Error naming the tensor and the field on a negative
// size, a null pointer to elements that the kind needs, or what is written and overlaps anything
// else.
template <class T>
Table<T> make_table(Kind kind, std::span<const Parameter<T>> parameters, void* memory,
                    Stream& stream);

// naive: one thread per element. vectorized: four elements per access, which are 16 bytes of f32,
// tensor by tensor where all of its arrays are aligned to that; single elements where not.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues one step and returns the variant that runs; automatic is vectorized. Throws Error naming
// the field on a rate, an epsilon or a decay that is negative or not finite, a beta outside of [0,
// 1), or a number below 1. `scale` and `found_inf` must not be among what is written.
template <class T>
Variant run(const Table<T>& table, const Step& step, Variant variant, Stream& stream);

// Of `elements` in all: gradients read; moments and parameters, or masters, read and written;
// parameters of 16 bits written.
template <class T>
Work work(Kind kind, std::int64_t elements, const Step& step);

} // namespace kg::optimizer
