// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// embedding_backward: the gradient of an embedding table, of which gather is the forward pass:
//   y[r][:] = sum of x[order[j]][:] over j in [offsets[r], offsets[r + 1])
// for x the gradient of the rows that were looked up, and `order` the lookups sorted by what they
// looked up, those of one row in the order in which they are to be added.
//
// Why sorted by the caller: which tokens a batch holds is known long before its backward pass, and
// one sort serves all that is added to one table. Why offsets of rows: a dense gradient is then
// written once, zeros included, with no pass that clears it; and where only the rows that occur
// are wanted, their offsets alone give a packed gradient of these.
//
// Problem: x is count x inner, y is rows x inner, all packed, at any alignment of the elements. y
// overlaps no input. Offsets ascend within [0, count] and orders lie within [0, count); both lie on
// the device and are not checked.
//
// Rounding: sums in f32 that begin at +0 and go through their rows one after the other, rounded
// once to T. Special values: IEEE 754. Repeated runs are bit-identical.
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

// naive: one thread per element of y. vectorized: 16 bytes per access where rows are made of such;
// else as naive.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs; automatic is vectorized. Extents may be
// 0. Throws Error naming the field on a negative extent, a null pointer where one is needed, more
// than 2^31 - 1 lookups, or a y that overlaps an input.
template <class T>
Variant run(const Problem<T>& problem, Variant variant, Stream& stream);

// x and the lists read once, y written once; an addition per element of x.
template <class T>
Work work(const Problem<T>& problem);

} // namespace kg::embedding_backward
