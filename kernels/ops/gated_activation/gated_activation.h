// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gated_activation: y[r, c] = act(x[r, c]) x[r, cols + c]: the activation of a row's first half
// (the gate) times its second half. From the gated feed-forward blocks of Shazeer, "GLU variants
// improve Transformer", arXiv 2002.05202.
//
// Problem: packed row-major matrices, x of rows x 2 cols, y of rows x cols. Layout: pointers need
// only T's own alignment; x and y do not overlap. All types compute in f32: the activation is not
// rounded to T, the product once. Special values: as `activation`, then IEEE 754 for the product. 0
// times an infinity is NaN, so a gate of -inf, whose activation is zero, turns an infinity into
// NaN. Subnormals are kept. Accuracy: the activation's error times the second half, plus one
// rounding (tests/oracle/oracle_gated_activation.h). Repeated runs are bit-identical.
#pragma once

#include "primitives/activation.h"
#include "primitives/vectorization.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstdint>
#include <string_view>

namespace kg::gated_activation {

enum class Form { swiglu, geglu, reglu };
inline constexpr Form kForms[] = {Form::swiglu, Form::geglu, Form::reglu};

using kg::name;

// The activation function of a form. geglu uses the erf form of gelu.
constexpr activation::Function function_of(Form form) {
  switch (form) {
  case Form::swiglu: return activation::Function::silu;
  case Form::geglu: return activation::Function::gelu;
  case Form::reglu: return activation::Function::relu;
  }
  return {};
}

// naive: one thread per element. vectorized: 16-byte accesses, grid sized to fill the device.
using vectorization::kVariants, vectorization::resolved, vectorization::Variant;

using kg::name;

// Enqueues the operation and returns the variant that runs. rows >= 0 and cols >= 0; if either is
// 0, nothing is launched. T: float, f16, bf16. Throws Error on a negative extent, a null pointer,
// or an overlap of x and y.
template <class T>
Variant run(Form form, const T* x, T* y, std::int64_t rows, std::int64_t cols, Variant variant,
            Stream& stream);

// Two reads and one write per element of y; two operations, the activation and the product.
Work work(Dtype dtype, std::int64_t rows, std::int64_t cols);

} // namespace kg::gated_activation
