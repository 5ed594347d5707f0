// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gather: y[o][i][:] = table[o][index[i]][:], bit for bit: selects rows along one axis. With outer
// = 1 it is an embedding lookup.
//
// Problem: the table is outer x extent x inner, y is outer x count x inner. For an axis of a
// tensor, outer is the product of the extents before it, inner of those after it. Elements have 1,
// 2, 4 or 8 bytes. `count` signed indices of 32 or 64 bits come in any order and may repeat.
// Layout: all packed, aligned to the element. y overlaps neither table nor index. Special values:
// none, since only bits move, including NaN payloads. Repeated runs are bit-identical.
//
// Indices: 0 to extent - 1; negative indices do not count from the end. Any other index traps
// before it is used, and y is unspecified. On the host backend, run then throws Error. On a GPU,
// the next synchronisation fails and the context is lost.
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
  std::int64_t extent = 0; // rows of the table along the axis
  std::int64_t inner = 0;
  std::int64_t count = 0; // rows of y along the axis
};

// naive: one thread per element. vectorized: words of 8 or 16 bytes, several in flight per thread,
// if row length and addresses allow them. Other rows of at least kLongRow bytes use 16-byte
// accesses with a shift in registers. The rest use the widest words possible, since a shifted row's
// ends are moved one element at a time.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

inline constexpr std::int64_t kLongRow = 512;

// Enqueues the operation and returns the variant that runs. Throws Error on negative extents, an
// empty table, a null pointer, a y that overlaps an input, or an unsupported element size.
Variant run(const void* table, Indices index, void* y, const Problem& problem,
            std::size_t element_bytes, Variant variant, Stream& stream);

// Each selected row is read and written once, each index read once; no arithmetic.
Work work(Dtype dtype, const Problem& problem, std::int64_t index_bytes);

} // namespace kg::gather
