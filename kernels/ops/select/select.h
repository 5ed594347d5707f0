// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// select: copies the selected elements of an array, in order and without gaps, and counts them.
// Selected are elements with a flag, or the first of each run of equal elements (unique).
//
// Problem: n elements x of 1, 2, 4 or 8 bytes. y has room for all of them; elements of y after the
// last selected one stay unchanged. Flags are n bytes; a nonzero byte selects its element. Runs
// compare bits: zeros of both signs differ, NaN with the same payload are equal. Layout: packed;
// natural alignment suffices; y overlaps neither x nor flags. Special values: none, since only bits
// move. Repeated runs are bit-identical.
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

// naive: one block, one element per thread and round. look_back: tiles of 16 KiB, each read and
// written once in 16-byte packs. Reads need x aligned to 16 bytes and flags aligned for their
// packs. Writes are narrower only at the two ends of a tile's output, which may begin anywhere.
enum class Variant { automatic, naive, look_back };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::look_back};

// The variant that runs for `variant`.
constexpr Variant resolved(Variant variant) {
  return variant == Variant::automatic ? Variant::look_back : variant;
}

using kg::name;

// Bytes of device workspace that `run` needs, aligned to 16; may be 0.
std::size_t workspace_bytes(const Problem& problem, Variant variant);

// Enqueues the operation and returns the variant that runs; *count, on the device, receives the
// number of elements written to y. `flags` is ignored for runs. Throws Error if n is negative or
// beyond i32, a required pointer is null, y or count overlaps any other array, or elements have
// another size.
Variant run(const Problem& problem, const void* x, const std::int8_t* flags, void* y,
            std::int32_t* count, void* workspace, Variant variant, Stream& stream);

// One read of each element and flag, one write of each of `kept` and of the count; no arithmetic.
Work work(const Problem& problem, std::int64_t kept);

} // namespace kg::select
