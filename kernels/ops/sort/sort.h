// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// sort: sorts an array in ascending or descending order, keys alone (keys) or with a 32-bit value
// each (pairs), as a whole or within segments. Stable: equal keys, and their values, keep their
// order.
//
// Problem: n keys and n values; the results go to separate arrays, and the inputs stay unchanged.
// Layout: packed; natural alignment suffices; outputs and workspace must not overlap anything.
//
// Order, as in CUB: integers by value. For floats, zeros of both signs are equal; NaN with the sign
// bit set precede -inf, and other NaN follow +inf, by payload. Only bits move, including NaN
// payloads. Repeated runs are bit-identical.
//
// Ranges of bits, as in CUB: keys are equal if these bits of their ordered words are equal. An
// ordered word is the key with its sign bit, if any, inverted; of a negative float, with all bits
// inverted. Both zeros have the word of +0, in descending order that of -0.
#pragma once

#include "primitives/segments.h"
#include "runtime/device_code.h"
#include "runtime/enumerators.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kg::sort {

// Arrays of n elements. Both value arrays are null if keys are sorted alone.
template <class T>
struct Arrays {
  const T* keys = nullptr;
  T* sorted_keys = nullptr;
  const std::int32_t* values = nullptr;
  std::int32_t* sorted_values = nullptr;
};

// end_bit 0 means all bits from begin_bit on. Fewer bits need fewer passes.
struct Order {
  bool descending = false;
  int begin_bit = 0, end_bit = 0;
};

// naive: one thread per key, which counts all keys that precede its own. onesweep: one pass over
// the keys per 8 bits to sort by, lowest first. counting: counts each of the 2^16 keys; only for
// f16 and bf16 keys without values, by all bits.
enum class Variant { automatic, naive, onesweep, counting };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::onesweep, Variant::counting};

// Whether `variant` sorts whole arrays of such keys.
bool supports(Variant variant, std::size_t key_bytes, bool pairs, const Order& order);

// The variant that runs for `variant`, for whole arrays and for segments. For whole arrays,
// automatic is counting from 2^22 keys on, if supported.
Variant resolved(Variant variant, std::int64_t n, std::size_t key_bytes, bool pairs,
                 const Order& order);
constexpr Variant resolved_of_segments(Variant variant) {
  return variant == Variant::automatic ? Variant::onesweep : variant;
}

using kg::name;

// Bytes of device workspace that `run` needs, aligned to 16; may be 0.
std::size_t workspace_bytes(std::int64_t n, std::size_t key_bytes, bool pairs, const Order& order,
                            Variant variant);

// Enqueues the sort and returns the variant that runs. T: float, f16, bf16, std::int32_t,
// std::uint32_t, std::int64_t. Throws Error if n is negative or not below 2^30, a required pointer
// is null, only one value array is given, an output overlaps another array, the key lacks these
// bits, or the variant does not support the problem.
template <class T>
Variant run(const Arrays<T>& arrays, std::int64_t n, const Order& order, void* workspace,
            Variant variant, Stream& stream);

// The same for segments of any number and lengths (segments.cu). Also throws Error if there are
// keys but no segments.
std::size_t segments_workspace_bytes(std::int64_t n, std::size_t key_bytes, std::int64_t segments,
                                     const Order& order, Variant variant);
template <class T>
Variant run_segments(const Arrays<T>& arrays, std::int64_t n, const Segments& segments,
                     const Order& order, void* workspace, Variant variant, Stream& stream);

// One read and one write of each key and value, fewer than a radix sort needs, and one read of the
// offsets of `segments` segments, if any; no arithmetic.
Work work(std::int64_t n, std::size_t key_bytes, bool pairs, std::int64_t segments = 0);

} // namespace kg::sort
