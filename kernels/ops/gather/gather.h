// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gather: y[o][i][:] = table[o][index[i]][:], bit for bit: rows picked along one axis. With an
// outer extent of 1 it looks up embeddings.
//
// Problem: the table is outer x extent x inner, y is outer x count x inner; of a tensor's axis,
// outer is the product of the extents before it, inner of those behind it. Elements of 1, 2, 4 or 8
// bytes; `count` signed indices of 32 or 64 bits, in any order and as often as wanted. Layout: all
// packed, any alignment of the element itself; y overlaps neither table nor index. Special values:
// none, since only bits move, NaN payloads with them. Repeated runs are bit-identical.
//
// Indices: 0 to extent - 1; a negative one does not count from the end. Any other ends the kernel
// with a trap before anything is read through it, and y is unspecified: on the host backend an
// Error of run, on a GPU an error of the next synchronisation, behind which the context is lost.
#pragma once

#include "ops/gather/indices.h"
#include "primitives/vectorization.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kg::gather {

struct Problem {
  std::int64_t outer = 0;
  std::int64_t extent = 0; // of the table along the axis
  std::int64_t inner = 0;
  std::int64_t count = 0; // of y along the axis
};

// naive: one element per thread. vectorized: rows whose length and addresses allow it in words of 8
// or 16 bytes, several under way in a thread; other rows of kLongRow bytes and more with 16-byte
// accesses, too, shifted in registers; the rest in the widest words that it allows, since the ends
// of a shifted row are moved one by one.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

inline constexpr std::int64_t kLongRow = 512;

// Enqueues the operation and returns the variant that runs. Throws Error on negative extents, no
// rows to pick from, a null pointer, a y that overlaps an input, or elements of another size.
Variant run(const void* table, Indices index, void* y, const Problem& problem,
            std::size_t element_bytes, Variant variant, Stream& stream);

// Each picked row read and written once, each index read once; no arithmetic.
Work work(Dtype dtype, const Problem& problem, std::int64_t index_bytes);

} // namespace kg::gather
