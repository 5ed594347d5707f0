// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// reduce_by_key: for each run of equal keys, the key and a reduction of the run's values: their
// sum, minimum or maximum, or the first of them (unique_by_key). Also counts the runs.
//
// Problem: n keys, integers of 4 or 8 bytes, and n values, f32 or i32. `unique` and `results` have
// room for n; elements after the last run stay unchanged. Runs consist of adjacent keys: a key that
// occurs again later begins another run. Layout: packed; natural alignment suffices; outputs
// overlap neither inputs nor each other.
//
// Arithmetic: sums of i32 are modulo 2^32. The order of the operations depends on n and on where
// runs begin: repeated runs are bit-identical, on every GPU.
//
// Special values: IEEE 754. A NaN makes its run's result NaN; a sum begins with +0. Of equal minima
// or maxima, including zeros of both signs, the last one is kept. `first` moves bits. Subnormals
// are kept.
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
  std::int32_t* count = nullptr; // on the device: receives the number of runs
};

// naive: one block, one element per thread and round. look_back: tiles of 4096 elements, or 2048
// with 8-byte keys, each read and written once. Aligned arrays are read in 16-byte accesses, values
// of 8-byte keys in 8-byte accesses. Results are written one word at a time, since a tile's results
// may begin anywhere.
enum class Variant { automatic, naive, look_back };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::look_back};

// The variant that runs for `variant`.
constexpr Variant resolved(Variant variant) {
  return variant == Variant::automatic ? Variant::look_back : variant;
}

using kg::name;

// Bytes of device workspace that `run` needs, aligned to 16; may be 0.
std::size_t workspace_bytes(const Problem& problem, Variant variant);

// Enqueues the operation and returns the variant that runs. Throws Error if n is negative or beyond
// i32, a required pointer is null, an output overlaps any other array, or keys or values have
// another type.
Variant run(const Problem& problem, const Arrays& arrays, void* workspace, Variant variant,
            Stream& stream);

// The longest chain of additions from an element to a sum.
std::int64_t chain(const Problem& problem, Variant variant);

// One read of each key and value, one write of each run's key and result, and of the count; one
// operation per element, if the reduction has any.
Work work(const Problem& problem, std::int64_t runs);

} // namespace kg::reduce_by_key
