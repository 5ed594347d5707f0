// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// bias_gelu_backward: the gradients of y[r, c] = gelu(x[r, c] + bias[c]) (bias_gelu.h) in one pass:
// dx[r, c] = dy[r, c] gelu'(x[r, c] + bias[c]), and dbias[c], the sum of column c of dx.
//
// Problem: packed row-major rows x cols matrices and vectors of cols elements. Layout: pointers
// need only T's own alignment. dx may be x or dy; other overlap is not allowed. All types compute
// in f32. x + bias is rounded to f32, and dx once to T. dbias sums the unrounded dx in f32 and is
// rounded once to T; with no rows it is 0. Every variant adds in a fixed order: repeated runs on
// one device are bit-identical. On a device with another number of multiprocessors, dbias may
// differ in its last bits.
// Special values: as `activation_backward`'s gelu of the sum with the bias. A NaN or infinity
// affects only its element of dx and its column of dbias. Subnormals are kept. Accuracy:
// tests/oracle/oracle_bias_gelu_backward.h.
#pragma once

#include "ops/bias_gelu/bias_gelu.h"
#include "primitives/vectorization.h"

#include <cstddef>

namespace kg::bias_gelu_backward {

using bias_gelu::Form;
using bias_gelu::kForms;

// naive: one thread per column. vectorized: blocks of many rows by up to 32 packs. Accesses are 16
// bytes wide where x, dy and dx are aligned; if rows end within packs, several rows are treated as
// one. Otherwise neighbouring threads access single elements. A second launch adds the partial
// column sums where rows are split or treated as one.
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

// Enqueues the operation and returns the variant that runs. rows >= 0 and cols >= 0; cols = 0
// launches nothing. T: float, f16, bf16. Throws Error on a negative extent, a required pointer that
// is null, a required workspace that is null or misaligned, and an overlap of an output with
// another array. Only dx may be x or dy.
template <class T>
Variant run(Form form, const Arrays<T>& arrays, void* workspace, std::int64_t rows,
            std::int64_t cols, Variant variant, Stream& stream);

// Two reads and one write per element, plus bias and dbias. Four operations per element: the sum,
// the derivative, the product and the column sum.
Work work(Dtype dtype, std::int64_t rows, std::int64_t cols);

} // namespace kg::bias_gelu_backward
