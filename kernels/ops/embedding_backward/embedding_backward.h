// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// embedding_backward: the gradient of an embedding table; the forward pass is gather:
//   y[r][:] = sum of x[order[j]][:] over j in [offsets[r], offsets[r + 1])
// x is the gradient of the looked-up rows. `order` lists the lookups sorted by table row; lookups
// of one row are in the order of addition.
//
// Why the caller sorts: the tokens of a batch are known long before its backward pass, and one sort
// serves all gradients added to one table. Why row offsets: the kernel writes a dense gradient
// once, zeros included, without a separate pass that clears it. If only rows that occur are wanted,
// their offsets alone give a packed gradient of these rows.
//
// Problem: x is count x inner, y is rows x inner, all packed; pointers need only their element's
// alignment. y overlaps no input. Offsets ascend within [0, count], and orders lie within [0,
// count). Both reside on the device and are not checked.
//
// Rounding: sums in f32 start at +0, add their rows sequentially and are rounded once to T. Special
// values: IEEE 754. Repeated runs are bit-identical.
#pragma once

#include "primitives/vectorization.h"
#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstdint>
#include <string_view>

namespace kg::embedding_backward {

// T: float, f16, bf16.
template <class T>
struct Problem {
  std::int64_t count = 0;
  std::int64_t rows = 0;
  std::int64_t inner = 0;
  const T* x = nullptr;
  const std::int32_t* order = nullptr;   // count
  const std::int32_t* offsets = nullptr; // rows + 1
  T* y = nullptr;
};

// naive: one thread per element of y. vectorized: 16-byte accesses if rows consist of aligned
// 16-byte packs; else as naive.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs; automatic is vectorized. Extents may be
// 0. Throws Error naming the field on a negative extent, a required pointer that is null, more than
// 2^31 - 1 lookups, or a y that overlaps an input.
template <class T>
Variant run(const Problem<T>& problem, Variant variant, Stream& stream);

// x and the lists are read once, y is written once; one addition per element of x.
template <class T>
Work work(const Problem<T>& problem);

} // namespace kg::embedding_backward
