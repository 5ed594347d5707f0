// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cast: arrays from f32, f16 or bf16 to 8-bit floating point, e4m3 or e5m2, and back.
//
// Problem: n elements. Layout: packed; pointers need only their type's alignment; no overlap.
//
// Rounding: casts to 8 bits round to nearest even, once; casts from 8 bits are exact. Values out of
// the 8-bit type's range, infinities included, become its largest number if the cast saturates.
// Otherwise they become NaN in e4m3 and infinity in e5m2.
// Special values: zeros and infinities keep their signs. NaN becomes 0x7F, whatever its sign.
// Subnormals are kept in both types. Repeated runs are bit-identical.
#pragma once

#include "primitives/fp8_types.h"
#include "primitives/vectorization.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstdint>
#include <string_view>

namespace kg::cast {

// naive: one thread per element. vectorized: packs with as many elements as 16 bytes of the wider
// type hold, if both arrays are aligned to their packs; else as naive.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the cast and returns the variant that runs. One of From and To is float, f16 or bf16,
// the other e4m3 or e5m2; `saturate` applies to casts to 8 bits only. Throws Error on a negative n,
// a required pointer that is null, or a y that overlaps x.
template <class From, class To>
Variant run(const From* x, To* y, std::int64_t n, bool saturate, Variant variant, Stream& stream);

// One read and one write per element.
Work work(Dtype from, Dtype to, std::int64_t n);

} // namespace kg::cast
