// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The implementations of batchnorm and of its backward pass, and how they cut a problem. Each of
// them sums over all elements of a channel first: a part of them per block, the parts of a channel
// in a second launch.
#pragma once

#include "ops/batchnorm/problem.h"
#include "primitives/block.h"
#include "primitives/pack.h"
#include "primitives/partials.h"
#include "runtime/device.h"
#include "runtime/dtype.h"
#include "runtime/enumerators.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace kg::batchnorm {

// naive: one thread per channel for its sums, one per element for the result; no workspace.
// vectorized: 16-byte accesses. nchw: blocks share out the packs of a channel's planes; of short
// planes, whose packs are mostly shared by two, an image is a row of columns as in nhwc
// (has_short_planes). nhwc: a thread has one pack of channels, and every so many-th row.
enum class Variant { automatic, naive, vectorized };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::vectorized};

using kg::name;

// What runs where `variant` is asked for.
constexpr Variant resolved(Variant variant) {
  return variant == Variant::automatic ? Variant::vectorized : variant;
}

// 3 blocks of 256 threads have 48 KiB under way on a multiprocessor, 2 blocks 32 KiB, or 64 KiB of
// two tensors; an H200 needs about 28 KiB. The kernels' launch bounds hold ptxas to as many, on
// every architecture, so that a grid is what a device runs at once without asking it, and a problem
// has the same parts, so the same bits, wherever there are as many multiprocessors.
inline constexpr int kThreads = 256;
inline constexpr int kBlocksPerSm = 3;
inline constexpr int kWideBlocksPerSm = 2;  // whose threads hold two tensors, or channels' numbers
inline constexpr int kPlaneBlocksPerSm = 6; // whose threads have one pack of planes
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

// nchw of short planes: images as rows of channels x spatial columns, as pixels of nhwc are rows of
// channels. What the blocks leave of each column is joined by channel (short_planes.h).
constexpr Problem as_columns(const Problem& p) {
  return {p.batch, p.channels * p.spatial, 1, Layout::nhwc};
}

// Whether the sums of nchw are taken so where the tensors are aligned: rows must be whole packs,
// and enough for each thread of a block to have kTogether. Columns leave numbers of each of them
// behind where planes leave them of each channel, and a lane joins every 32nd column of a plane,
// one after the other: 16 of them at most, a few microseconds. A longer plane has packs enough of
// its own.
inline constexpr std::int64_t kShortPlane = 512;
inline bool has_short_planes(Dtype dtype, const Problem& p) {
  const Problem columns = as_columns(p);
  const int width = pack_elements(dtype);
  return p.layout == Layout::nchw && p.spatial <= kShortPlane && columns.channels % width == 0 &&
         p.batch >= std::int64_t{kTogether} * column_tiles(columns, width).height;
}

// Into how many parts each of `pieces` is cut, `most` at most, for blocks that a device runs
// `resident` of at once: as many as one wave has room for, or, where that leaves a good part of it
// idle, as fill two to four waves better by a twentieth. 64 pieces on 396 places are 6 parts each,
// 384 blocks (576 would need a second wave for 180 of them); 256 pieces 3, 768 blocks on 792
// places.
constexpr std::int64_t filling_parts(std::int64_t pieces, std::int64_t resident,
                                     std::int64_t most) {
  constexpr std::int64_t kMostWaves = 4;
  std::int64_t best = std::clamp<std::int64_t>(resident / pieces, 1, most);
  double filled = 0;
  for (std::int64_t parts = best; parts <= most; ++parts) {
    const std::int64_t blocks = pieces * parts;
    const std::int64_t places = div_up(blocks, resident) * resident;
    if (parts > best && places > kMostWaves * resident) break;
    const double share = static_cast<double>(blocks) / static_cast<double>(places);
    if (share <= 1.05 * filled) continue;
    filled = share;
    best = parts;
  }
  return best;
}

inline std::int64_t resident_blocks(int per_sm) {
  return std::int64_t{device_properties().sm_count} * per_sm;
}

// Of the rows that the blocks of a strip of columns share, as many as keep the device busy.
inline std::int64_t column_parts(const ColumnTiles& tiles, int blocks_per_sm) {
  return filling_parts(tiles.across, resident_blocks(blocks_per_sm), tiles.down);
}

// Into how many parts a channel's sums are cut; problems have elements.
inline std::int64_t parts(Variant variant, Dtype dtype, const Problem& p, int blocks_per_sm) {
  if (resolved(variant) == Variant::naive) return 0;
  if (p.layout == Layout::nhwc)
    return column_parts(column_tiles(p, pack_elements(dtype)), blocks_per_sm);
  const std::int64_t of_a_block = std::int64_t{kThreads} * kTogether * pack_elements(dtype);
  return filling_parts(p.channels, resident_blocks(blocks_per_sm),
                       div_up(p.per_channel(), of_a_block));
}

// Of a block that joins parts: no more than there are parts.
constexpr int finish_warps(std::int64_t parts) {
  return static_cast<int>(std::clamp<std::int64_t>(parts, 1, kFinishWarps));
}

// Bytes for `vectors` sums of each channel and part.
inline std::size_t partial_bytes(Variant variant, Dtype dtype, const Problem& p, int blocks_per_sm,
                                 int vectors) {
  if (p.elements() == 0) return 0;
  return partials_bytes(parts(variant, dtype, p, blocks_per_sm), vectors, p.channels);
}

// The same where short planes may be taken by columns; or not, where a tensor is not aligned.
inline std::size_t workspace_for(Variant variant, Dtype dtype, const Problem& p, int blocks_per_sm,
                                 int vectors) {
  const std::size_t usual = partial_bytes(variant, dtype, p, blocks_per_sm, vectors);
  if (!has_short_planes(dtype, p)) return usual;
  return std::max(usual, partial_bytes(variant, dtype, as_columns(p), blocks_per_sm, vectors));
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

inline Additions additions(Dtype dtype, const Problem& p, int blocks_per_sm) {
  const std::int64_t count = parts(Variant::vectorized, dtype, p, blocks_per_sm);
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
// a thread holds together is summed first; a lane joins several columns of a short plane.
inline std::int64_t chain(Variant variant, Dtype dtype, const Problem& p) {
  if (resolved(variant) == Variant::naive || p.elements() == 0) return p.per_channel();
  const auto joined = [&](const Problem& cut, std::int64_t columns) {
    const Additions of = additions(dtype, cut, kBlocksPerSm);
    const std::int64_t count = parts(variant, dtype, cut, kBlocksPerSm);
    return of.together + of.rounds + of.steps + div_up(count, finish_warps(count)) * columns +
           finish_warps(count);
  };
  const std::int64_t usual = joined(p, 1);
  if (!has_short_planes(dtype, p)) return usual;
  return std::max(usual, joined(as_columns(p), div_up(p.spatial, kLanes)) + kButterflySteps);
}

} // namespace kg::batchnorm
