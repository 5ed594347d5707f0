// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gated_activation: y[r, c] = act(x[r, c]) x[r, cols + c], a row's first half through an activation
// and times its second half: the gated feed-forward blocks of Shazeer, "GLU variants improve
// Transformer", arXiv 2002.05202.
//
// Problem: packed row-major matrices, x of rows x 2 cols, y of rows x cols. Layout: any alignment
// of T itself; x and y do not overlap. All types compute in f32: the activation is not rounded to
// T, the product once. Special values: those of `activation`'s function of the first half, and of
// the product: 0 times an infinity is NaN, so a gate of -inf, whose activation is a zero, makes an
// infinity NaN. Subnormals are kept. Accuracy: that of the activation, times the second half, and
// one rounding more (tests/oracle/oracle_gated_activation.h). Repeated runs are bit-identical.
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

// The activation of a form; geglu's gelu is the one by the error function.
constexpr activation::Function function_of(Form form) {
  switch (form) {
  case Form::swiglu: return activation::Function::silu;
  case Form::geglu: return activation::Function::gelu;
  case Form::reglu: return activation::Function::relu;
  }
  return {};
}

// naive: one element per thread. vectorized: 16-byte accesses, grid sized to fill the device.
using vectorization::kVariants, vectorization::resolved, vectorization::Variant;

using kg::name;

// Enqueues the operation and returns the variant that runs. rows >= 0 and cols >= 0; where one is 0
// nothing is launched. T: float, f16, bf16. Throws Error on a negative extent, a null pointer, and
// where x and y overlap.
template <class T>
Variant run(Form form, const T* x, T* y, std::int64_t rows, std::int64_t cols, Variant variant,
            Stream& stream);

// Two reads and one write per element of y; two operations, the activation and the product.
Work work(Dtype dtype, std::int64_t rows, std::int64_t cols);

} // namespace kg::gated_activation
