// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// select: the elements of an array that are wanted, in their order and without gaps, and how many
// they are; those that have a flag, or the first of each run of equal ones (unique).
//
// Problem: n elements x of 1, 2, 4 or 8 bytes; y has room for all of them, and the places behind
// the last one that is kept stay as they are. `flags`: n bytes, those that are not 0 keep their
// element; null: elements are kept that differ from the one before, bit for bit, so that zeros of
// both signs differ and NaN of one payload are alike. Layout: packed, any alignment of the element;
// y overlaps neither x nor flags. Special values: none, since only bits move. Repeated runs are
// bit-identical.
#pragma once

#include "runtime/dtype.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kg::select {

// naive: one block, an element per thread and round. look_back: tiles of 16 KiB, each read and
// written once: by 16-byte accesses where x is aligned to 16 bytes, and the flags as its packs ask;
// written a word at a time, since where a tile's results begin depends on the data.
enum class Variant { automatic, naive, look_back };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::look_back};

// What runs where `variant` is asked for.
constexpr Variant resolved(Variant variant) {
  return variant == Variant::automatic ? Variant::look_back : variant;
}

// Whether repeated runs give the same bits.
constexpr bool deterministic(Variant) { return true; }

std::string_view name(Variant variant);

// Bytes of device workspace that `run` needs, aligned to 16; may be 0.
std::size_t workspace_bytes(std::int64_t n, std::size_t element_bytes, Variant variant);

// Enqueues the operation and returns the variant that runs; *count, on the device, becomes how many
// elements of y are written. Throws Error on an n that is negative or beyond i32, a null pointer
// where one is needed, a y that overlaps an input, or elements of another size.
Variant run(const void* x, const std::int8_t* flags, void* y, std::int32_t* count, std::int64_t n,
            std::size_t element_bytes, void* workspace, Variant variant, Stream& stream);

// One read of each element and flag, one write of each of `kept`, and of the count; no arithmetic.
Work work(Dtype dtype, std::int64_t n, bool flagged, std::int64_t kept);

} // namespace kg::select
