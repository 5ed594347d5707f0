// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// sort: an array in ascending or descending order, alone (keys) or with a value of 32 bits beside
// each (pairs), as a whole or each of its segments by itself. Stable: equal keys, and their values,
// keep their order.
//
// Problem: n keys and as many values; what is sorted goes to arrays of their own, the inputs stay.
// Layout: packed, any alignment of the element; outputs and workspace overlap nothing else.
//
// Order, as CUB's: integers by value; of floats zeros of both signs are equal, NaN with the sign
// bit stand below -inf and those without above +inf, by payload. Only bits move, NaN payloads with
// them. Repeated runs are bit-identical.
//
// Of a range of bits, as CUB's: keys are equal if these bits of their ordered words are. Such a
// word is a key's bits with the sign inverted, of a negative float with all bits inverted. Of both
// zeros it is that of +0, in descending order that of -0.
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

// Arrays of n elements; values are null where keys are sorted alone, both of them.
template <class T>
struct Arrays {
  const T* keys = nullptr;
  T* sorted_keys = nullptr;
  const std::int32_t* values = nullptr;
  std::int32_t* sorted_values = nullptr;
};

// end_bit 0: the key's last one. Fewer bits are fewer passes.
struct Order {
  bool descending = false;
  int begin_bit = 0, end_bit = 0;
};

// naive: one thread per key, which counts the keys before its own among all. onesweep: one pass
// over the keys for every 8 bits that count, lowest first. counting: how often each of 2^16 keys is
// there, of f16 and bf16 alone, by all bits.
enum class Variant { automatic, naive, onesweep, counting };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::onesweep, Variant::counting};

// Whether `variant` sorts a whole array of such keys.
bool supports(Variant variant, std::size_t key_bytes, bool pairs, const Order& order);

// What runs where `variant` is asked for, of the whole and of segments: counting of 2^22 keys and
// more, where it is supported.
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
// std::uint32_t, std::int64_t. Throws Error on an n that is negative or not below 2^30, a null
// pointer where one is needed, values on one side alone, an output that overlaps another array,
// bits that a key has not, or a variant that does not support the problem.
template <class T>
Variant run(const Arrays<T>& arrays, std::int64_t n, const Order& order, void* workspace,
            Variant variant, Stream& stream);

// The same for segments of any number and lengths (segments.cu). Throws Error where there are keys
// and no segment, too.
std::size_t segments_workspace_bytes(std::int64_t n, std::size_t key_bytes, std::int64_t segments,
                                     const Order& order, Variant variant);
template <class T>
Variant run_segments(const Arrays<T>& arrays, std::int64_t n, const Segments& segments,
                     const Order& order, void* workspace, Variant variant, Stream& stream);

// One read and one write of each key and value, which is less than a radix sort can do, and one
// read of the offsets of so many segments, if any; no arithmetic.
Work work(std::int64_t n, std::size_t key_bytes, bool pairs, std::int64_t segments = 0);

} // namespace kg::sort
