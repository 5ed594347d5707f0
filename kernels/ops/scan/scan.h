// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// scan: prefix sums or maxima: y[i] = x[s] (op) ... (op) x[i], where s is the first element of the
// segment that i belongs to. An exclusive scan omits x[i].
//
// Problem: arrays of n elements, in one segment or several. Several are given by n bytes, the
// heads, of which each nonzero one begins a segment, or by offsets. Layout: packed; natural
// alignment suffices; y may be x, other overlap is not allowed.
//
// Arithmetic: sums of f32, f16 and bf16 are kept in f32 and rounded once per result; sums of i32
// are modulo 2^32. The order of the operations depends on n alone: repeated runs are bit-identical,
// on every GPU. The variants' orders differ.
//
// Special values: IEEE 754. From a NaN on, all results of its segment are NaN. Sums begin with +0,
// so zeros of either sign sum to +0. Of equal maxima, including zeros of both signs, the last one
// is kept. The first result of an exclusive scan's segment is 0, or for maxima -inf (i32: -2^31).
// Subnormals are kept.
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

// naive: one block, one element per thread and round. look_back: tiles of 4096 elements, each read
// and written once. Each of x, heads and y is accessed in 16-byte packs if it is aligned for them.
// pipelined: the same with loads far ahead, by bulk copies; compute capability 9.0. If there are
// segments, or x or y is not aligned to 16 bytes, it runs look_back's kernel.
enum class Variant { automatic, naive, look_back, pipelined };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::look_back, Variant::pipelined};

// Whether the variant runs on this device.
bool supports(Variant variant);

// The variant that runs for `variant` if x and y are aligned to 16 bytes. `automatic` selects
// pipelined where each of its blocks has several tiles, otherwise look_back.
template <class T>
Variant resolved(const Problem& problem, Variant variant);

using kg::name;

// Bytes of device workspace that `run` needs, aligned to 16; may be 0.
template <class T>
std::size_t workspace_bytes(std::int64_t n, Variant variant);

// Enqueues the scan and returns the variant that runs. T: float, f16, bf16, std::int32_t. `heads`
// is ignored if there is one segment. Throws Error if n is negative or above 2^40, a required
// pointer is null, y overlaps an input without being x, or the device does not support the variant.
template <class T>
Variant run(const Problem& problem, const T* x, const std::int8_t* heads, T* y, void* workspace,
            Variant variant, Stream& stream);

// The same for segments given by offsets; problem.segmented is ignored. Also throws Error if n is
// above 2^31 - 1, or if there are elements but no segments.
template <class T>
std::size_t segments_workspace_bytes(std::int64_t n, Variant variant);
template <class T>
Variant run_segments(const Problem& problem, const T* x, const Segments& segments, T* y,
                     void* workspace, Variant variant, Stream& stream);

// The longest chain of additions from an element to a result; the error bound of a sum grows with
// its length.
template <class T>
std::int64_t chain(std::int64_t n, Variant variant);

// One read and one write per element, one read of its head if there are heads, and one operation;
// one read of the offsets of `segments` segments, if any.
Work work(Dtype dtype, std::int64_t n, bool heads, std::int64_t segments = 0);

} // namespace kg::scan
