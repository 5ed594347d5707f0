// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// reduce_by_key: for each run of equal keys, that key, and what the values beside the run combine
// to: their sum, minimum or maximum, or the first of them (unique_by_key); and how many runs there
// are.
//
// Problem: n keys, integers of 4 or 8 bytes, and n values, f32 or i32; `unique` and `results` have
// room for n, and the places behind the last run stay as they are. Runs are of neighbours: a key
// that comes back begins another one. Layout: packed, any alignment of the element; outputs overlap
// neither inputs nor each other.
//
// Arithmetic: sums of i32 are modulo 2^32. Combined in an order that depends on n and on where runs
// begin: repeated runs are bit-identical, on every GPU.
//
// Special values: IEEE 754. A NaN makes its run's result NaN; a sum begins with +0; of equal minima
// or maxima, zeros of either sign too, the last one stands. `first` moves bits. Subnormals are
// kept.
#pragma once

#include "runtime/dtype.h"
#include "runtime/enumerators.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kg::reduce_by_key {

enum class Op { sum, min, max, first };
inline constexpr Op kOps[] = {Op::sum, Op::min, Op::max, Op::first};

struct Problem {
  Op op = Op::sum;
  std::int64_t n = 0;
  Dtype dtype = Dtype::f32; // of values and results: f32 or i32
  std::size_t key_bytes = 4;
};

struct Arrays {
  const void* keys = nullptr;
  const void* values = nullptr;
  void* unique = nullptr;
  void* results = nullptr;
  std::int32_t* count = nullptr; // on the device: becomes how many runs there are
};

// naive: one block, an element per thread and round. look_back: tiles of 4096 elements, of 8-byte
// keys 2048, each read and written once: read by 16-byte accesses where arrays are aligned to 16
// bytes, values beside 8-byte keys by 8; written a word at a time, since where a tile's results
// begin depends on the data.
enum class Variant { automatic, naive, look_back };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::look_back};

// What runs where `variant` is asked for.
constexpr Variant resolved(Variant variant) {
  return variant == Variant::automatic ? Variant::look_back : variant;
}

using kg::name;

// Bytes of device workspace that `run` needs, aligned to 16; may be 0.
std::size_t workspace_bytes(const Problem& problem, Variant variant);

// Enqueues the operation and returns the variant that runs. Throws Error on an n that is negative
// or beyond i32, a null pointer where one is needed, an output that overlaps anything else, or keys
// or values of another type.
Variant run(const Problem& problem, const Arrays& arrays, void* workspace, Variant variant,
            Stream& stream);

// The most additions that an element meets on its way to a sum.
std::int64_t chain(const Problem& problem, Variant variant);

// One read of each key and value, one write of each run's, and of the count; an operation per
// element where there is any.
Work work(const Problem& problem, std::int64_t runs);

} // namespace kg::reduce_by_key
