// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cast: arrays from f32, f16 or bf16 to 8-bit floating point, e4m3 or e5m2, and back.
//
// Problem: n elements. Layout: packed, any alignment of the elements; y lies apart from x.
//
// Rounding: to nearest even, once; the way back is exact. What has no number in the 8-bit type
// becomes the largest one where the cast saturates, infinities, too; else NaN in e4m3, infinity in
// e5m2.
// Special values: zeros and infinities keep their signs. NaN becomes 0x7F, whatever its sign.
// Subnormal numbers are kept on both sides. Repeated runs are bit-identical.
#pragma once

#include "primitives/fp8_types.h"
#include "primitives/vectorization.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstdint>
#include <string_view>

namespace kg::cast {

// naive: one thread per element. vectorized: packs of as many elements as 16 bytes of the wider
// type have, where both arrays begin at such packs; else as naive.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the cast and returns the variant that runs. From and To: one of them float, f16 or bf16,
// the other e4m3 or e5m2; `saturate` is of casts to the latter. Throws Error on a negative n, a
// null pointer where one is needed, or a y that overlaps x.
template <class From, class To>
Variant run(const From* x, To* y, std::int64_t n, bool saturate, Variant variant, Stream& stream);

// One read and one write per element.
Work work(Dtype from, Dtype to, std::int64_t n);

} // namespace kg::cast
