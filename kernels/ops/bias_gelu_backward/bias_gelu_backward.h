// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// bias_gelu_backward: the gradients of y[r, c] = gelu(x[r, c] + bias[c]), see bias_gelu.h, in one
// pass: dx[r, c] = dy[r, c] gelu'(x[r, c] + bias[c]), and dbias[c], the sum of dx's column c.
//
// Problem: packed row-major matrices of rows x cols and vectors of cols. Layout: any alignment of T
// itself; dx may be x or dy, other overlap is not allowed. All types compute in f32: the sum with
// the bias is rounded to f32, dx once to T, and dbias adds what dx is before that rounding, in f32,
// and is rounded once to T. Of no rows dbias is 0. Every variant adds in a fixed order: repeated
// runs on one device are bit-identical; on another number of multiprocessors dbias may differ in
// its last bits.
// Special values: those of `activation_backward`'s gelu, of the sum with the bias; a NaN, or an
// infinity, reaches its element of dx and its column of dbias, and nothing else. Subnormals are
// kept. Accuracy: tests/oracle/oracle_bias_gelu_backward.h.
#pragma once

#include "ops/bias_gelu/bias_gelu.h"
#include "primitives/vectorization.h"

#include <cstddef>

namespace kg::bias_gelu_backward {

using bias_gelu::Form;
using bias_gelu::kForms;

// naive: one thread per column. vectorized: blocks of many rows by up to 32 packs, 16-byte accesses
// where x, dy and dx are aligned, of several rows at a time where they end within packs; single
// elements side by side elsewhere. Where rows are cut, or several taken as one, their sums meet in
// a second launch.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Bytes of device workspace that `run` needs, aligned to 16; may be 0.
template <class T>
std::size_t workspace_bytes(Variant variant, std::int64_t rows, std::int64_t cols);

template <class T>
struct Arrays {
  const T* x;
  const T* bias;
  const T* dy;
  T* dx;
  T* dbias;
};

// Enqueues the operation and returns the variant that runs. rows >= 0 and cols >= 0; without
// columns nothing is launched. T: float, f16, bf16. Throws Error on a negative extent, a null
// pointer where memory is needed, a workspace that is needed and null or not aligned, and where an
// output overlaps bias or the other output, or x or dy other than as dx in place.
template <class T>
Variant run(Form form, const Arrays<T>& arrays, void* workspace, std::int64_t rows,
            std::int64_t cols, Variant variant, Stream& stream);

// Two reads and one write per element, bias and dbias; four operations per element: the sum, the
// slope, the product and the sum of the column.
Work work(Dtype dtype, std::int64_t rows, std::int64_t cols);

} // namespace kg::bias_gelu_backward
