// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// select: the elements of an array that are wanted, in their order and without gaps, and how many
// they are; those that have a flag, or the first of each run of equal ones (unique).
//
// Problem: n elements x of 1, 2, 4 or 8 bytes; y has room for all of them, and the places behind
// the last one that is kept stay as they are. Flags are n bytes, of which those that are not 0 keep
// their element. Runs are of equal bits: zeros of both signs differ, NaN of one payload are alike.
// Layout: packed, any alignment of the element; y overlaps neither x nor flags. Special values:
// none, since only bits move. Repeated runs are bit-identical.
#pragma once

#include "runtime/enumerators.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kg::select {

// Elements with a flag, or the first of each run.
enum class Wanted { flagged, runs };

struct Problem {
  Wanted wanted = Wanted::flagged;
  std::int64_t n = 0;
  std::size_t element_bytes = 0;
};

// naive: one block, an element per thread and round. look_back: tiles of 16 KiB, each read and
// written once, by 16-byte accesses: read where x is aligned to 16 bytes, and the flags as its
// packs ask; written but for the ends of what a tile keeps, which begins anywhere.
enum class Variant { automatic, naive, look_back };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::look_back};

// What runs where `variant` is asked for.
constexpr Variant resolved(Variant variant) {
  return variant == Variant::automatic ? Variant::look_back : variant;
}

using kg::name;

// Bytes of device workspace that `run` needs, aligned to 16; may be 0.
std::size_t workspace_bytes(const Problem& problem, Variant variant);

// Enqueues the operation and returns the variant that runs; *count, on the device, becomes how many
// elements of y are written. `flags` is not looked at where runs are wanted. Throws Error on an n
// that is negative or beyond i32, a null pointer where one is needed, a y or a count that overlaps
// anything else, or elements of another size.
Variant run(const Problem& problem, const void* x, const std::int8_t* flags, void* y,
            std::int32_t* count, void* workspace, Variant variant, Stream& stream);

// One read of each element and flag, one write of each of `kept`, and of the count; no arithmetic.
Work work(const Problem& problem, std::int64_t kept);

} // namespace kg::select
