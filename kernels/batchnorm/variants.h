// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The implementations of batchnorm and of its backward pass, and how they cut a problem. Each of
// them sums over all elements of a channel first: a part of them per block, the parts of a channel
// in a second launch.
#pragma once

#include "batchnorm/problem.h"
#include "primitives/block.h"
#include "primitives/pack.h"
#include "primitives/partials.h"
#include "runtime/device.h"
#include "runtime/dtype.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace kg::batchnorm {

// naive: one thread per channel for its sums, one per element for the result; no workspace.
// vectorized: 16-byte accesses. nchw: blocks share out the packs of a channel's planes. nhwc: a
// thread has one pack of channels, and every so many-th row.
enum class Variant { automatic, naive, vectorized };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::vectorized};

// Whether repeated runs give the same bits.
constexpr bool deterministic(Variant) { return true; }

constexpr std::string_view name(Variant variant) {
  switch (variant) {
  case Variant::automatic: return "automatic";
  case Variant::naive: return "naive";
  case Variant::vectorized: return "vectorized";
  }
  return "";
}

// What runs where `variant` is asked for.
constexpr Variant resolved(Variant variant) {
  return variant == Variant::automatic ? Variant::vectorized : variant;
}

// With 4 blocks of 256 threads a multiprocessor has 64 KiB of each input under way; an H200 needs
// about 48 KiB in all. Of 16-bit types the registers permit 2 or 3 blocks, 32 to 48 KiB.
inline constexpr int kThreads = 256;
inline constexpr int kBlocksPerSm = 4;
inline constexpr int kTogether = 4;     // packs of each input that a thread loads before using one
inline constexpr int kFinishWarps = 32; // of a block that joins the parts of 32 channels, at most

constexpr int pack_elements(Dtype dtype) { return kPackBytes / static_cast<int>(size_of(dtype)); }

// nhwc: how threads lie over a matrix of rows (batch x spatial) by channels. A block has `lanes`
// packs side by side and `height` rows at a time.
struct ColumnTiles {
  int lanes;  // a power of two, so that narrow rows fill a warp's request together
  int height; //
  std::int64_t across;
  std::int64_t down; // tiles of kTogether x height rows
};

constexpr ColumnTiles column_tiles(const Problem& p, int count) {
  const std::int64_t packs = div_up(p.channels, count);
  int lanes = 1;
  while (lanes < kLanes && lanes < packs) lanes *= 2;
  const int height = kThreads / lanes;
  return {lanes, height, div_up(packs, lanes), div_up(p.per_channel(), kTogether * height)};
}

inline std::int64_t resident_blocks() {
  return std::int64_t{device_properties().sm_count} * kBlocksPerSm;
}

// Of the rows that the blocks of a strip of columns share, as many as keep the device busy.
inline std::int64_t column_parts(const ColumnTiles& tiles) {
  return std::clamp<std::int64_t>(div_up(resident_blocks(), tiles.across), 1, tiles.down);
}

// Into how many parts a channel's sums are cut; problems have elements.
inline std::int64_t parts(Variant variant, Dtype dtype, const Problem& p) {
  if (resolved(variant) == Variant::naive) return 0;
  if (p.layout == Layout::nhwc) return column_parts(column_tiles(p, pack_elements(dtype)));
  const std::int64_t of_a_block = std::int64_t{kThreads} * kTogether * pack_elements(dtype);
  return std::clamp<std::int64_t>(div_up(resident_blocks(), p.channels), 1,
                                  div_up(p.per_channel(), of_a_block));
}

// Of a block that joins parts: no more than there are parts.
constexpr int finish_warps(std::int64_t parts) {
  return static_cast<int>(std::clamp<std::int64_t>(parts, 1, kFinishWarps));
}

// Bytes for `vectors` sums of each channel and part.
inline std::size_t partial_bytes(Variant variant, Dtype dtype, const Problem& p, int vectors) {
  if (p.elements() == 0) return 0;
  return partials_bytes(parts(variant, dtype, p), vectors, p.channels);
}

// How a block adds its part of a channel up: the elements that a thread holds together, how often
// it does, and the steps that join the threads. A plane that begins between two packs has one more
// of them; columns that are not aligned have packs of 1, so a block fewer rows at once. Problems
// have elements.
struct Additions {
  std::int64_t together;
  std::int64_t rounds;
  std::int64_t steps;
};

inline Additions additions(Dtype dtype, const Problem& p) {
  const std::int64_t count = parts(Variant::vectorized, dtype, p);
  if (p.layout == Layout::nhwc) {
    constexpr std::int64_t kTreeSteps = 8; // of kThreads rows
    return {kTogether, div_up(column_tiles(p, 1).down, count), kTreeSteps};
  }
  const int width = pack_elements(dtype);
  const std::int64_t packs = p.batch * (div_up(p.spatial, width) + 1);
  return {kTogether * width, div_up(packs, count * kThreads * kTogether),
          kButterflySteps + kThreads / kLanes};
}

// Longest sequential chain of additions in batchnorm's sums: what the error bounds grow with. What
// a thread holds together is summed first.
inline std::int64_t chain(Variant variant, Dtype dtype, const Problem& p) {
  if (resolved(variant) == Variant::naive || p.elements() == 0) return p.per_channel();
  const Additions of = additions(dtype, p);
  const std::int64_t count = parts(variant, dtype, p);
  return of.together + of.rounds + of.steps + div_up(count, finish_warps(count)) +
         finish_warps(count);
}

} // namespace kg::batchnorm
