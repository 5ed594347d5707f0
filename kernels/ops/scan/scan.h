// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// scan: running sums or maxima: y[i] = x[s] (op) ... (op) x[i], of an exclusive scan without x[i],
// where s is the first element of the segment that i belongs to.
//
// Problem: arrays of n elements, one segment, or several: then each of n bytes, the heads, that is
// not 0 begins one, or offsets say where each begins. Layout: packed, any alignment of the element;
// y may be x, or lie apart from it.
//
// Arithmetic: sums of f32, f16 and bf16 are kept in f32 and rounded once for each result; sums of
// i32 are modulo 2^32. Combined in an order that depends on n alone: repeated runs are
// bit-identical, on every GPU.
//
// Special values: IEEE 754. From a NaN on all results of its segment are NaN; a sum begins with +0,
// so that zeros of either sign sum to +0; of equal maxima, zeros of either sign too, the last one
// stands. The first result of an exclusive scan's segment is 0, or the maximum of nothing: -inf, of
// i32 -2^31. Subnormals are kept.
#pragma once

#include "ops/scan/op.h"
#include "primitives/segments.h"
#include "runtime/device_code.h"
#include "runtime/enumerators.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kg::scan {

struct Problem {
  Op op = Op::sum;
  Kind kind = Kind::inclusive;
  std::int64_t n = 0;
  bool segmented = false;
};

// naive: one block, an element per thread and round. look_back: tiles of 4096 elements, each read
// and written once, by 16-byte accesses where the arrays are aligned to that; x, heads and y each
// for itself.
enum class Variant { automatic, naive, look_back };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::look_back};

// What runs where `variant` is asked for.
constexpr Variant resolved(Variant variant) {
  return variant == Variant::automatic ? Variant::look_back : variant;
}

using kg::name;

// Bytes of device workspace that `run` needs, aligned to 16; may be 0.
template <class T>
std::size_t workspace_bytes(std::int64_t n, Variant variant);

// Enqueues the scan and returns the variant that runs. T: float, f16, bf16, std::int32_t; `heads`
// is not looked at where there is one segment. Throws Error on a negative n or one beyond 2^40, a
// null pointer where one is needed, or a y that overlaps an input without being x.
template <class T>
Variant run(const Problem& problem, const T* x, const std::int8_t* heads, T* y, void* workspace,
            Variant variant, Stream& stream);

// The same of segments that offsets give; problem.segmented is not looked at. Throws Error on an n
// beyond 2^31 - 1, too, and where there are elements and no segment.
template <class T>
std::size_t segments_workspace_bytes(std::int64_t n, Variant variant);
template <class T>
Variant run_segments(const Problem& problem, const T* x, const Segments& segments, T* y,
                     void* workspace, Variant variant, Stream& stream);

// The most additions that an element meets on its way to a result: what the error bound of a sum
// grows with.
template <class T>
std::int64_t chain(std::int64_t n, Variant variant);

// One read and one write per element, of its head, too, where there are heads, and one operation;
// one read of the offsets of so many segments, if any.
Work work(Dtype dtype, std::int64_t n, bool heads, std::int64_t segments = 0);

} // namespace kg::scan
