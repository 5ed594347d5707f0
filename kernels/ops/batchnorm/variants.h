// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The variants of batchnorm and its backward pass, and how they divide a problem. Each first sums
// over all elements of a channel: every block sums a part, and a second launch combines the parts.
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
// vectorized: 16-byte accesses. nchw: blocks share the vectors of a channel's planes. Vectors of
// short planes mostly overlap two planes, so an image is treated as a row of columns as in nhwc
// (has_short_planes). nhwc: a thread has one vector of channels, and rows at a fixed stride.
enum class Variant { automatic, naive, vectorized };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::vectorized};

using kg::name;

// The variant that runs.
constexpr Variant resolved(Variant variant) {
  return variant == Variant::automatic ? Variant::vectorized : variant;
}

// 3 blocks of 256 threads have 48 KiB in flight per multiprocessor; 2 blocks 32 KiB, or 64 KiB for
// two tensors; an H200 needs about 28 KiB. Launch bounds guarantee this residency on every
// architecture, so grids fill the device in one wave without a query. A problem has the same parts,
// and so the same bits, on all devices with equal numbers of multiprocessors.
inline constexpr int kThreads = 256;
inline constexpr int kBlocksPerSm = 3;
inline constexpr int kWideBlocksPerSm = 2;  // threads hold two tensors, or per-channel values
inline constexpr int kPlaneBlocksPerSm = 6; // threads hold one vector of planes
inline constexpr int kTogether = 4;         // vectors of each input loaded before the first use
inline constexpr int kFinishWarps = 32; // at most, in a block that combines parts of 32 channels

constexpr int pack_elements(Dtype dtype) { return kPackBytes / static_cast<int>(size_of(dtype)); }

// nhwc: the distribution of threads over a matrix of rows (batch x spatial) by channels. A block
// covers `lanes` neighbouring vectors and `height` rows at a time.
struct ColumnTiles {
  int lanes;  // a power of two, so that a warp covers several narrow rows per request
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

// nchw with short planes: images as rows of channels x spatial columns, as nhwc pixels are rows of
// channels. Column results of blocks are combined by channel (short_planes.h).
constexpr Problem as_columns(const Problem& p) {
  return {p.batch, p.channels * p.spatial, 1, Layout::nhwc};
}

// Whether nchw sums use columns if tensors are aligned: rows must be whole vectors, with at least
// kTogether for each thread of a block. Columns produce results per column where planes produce
// them per channel, and a lane combines every 32nd column of a plane sequentially: at most 16, a
// few microseconds. A longer plane has enough vectors of its own.
inline constexpr std::int64_t kShortPlane = 512;
inline bool has_short_planes(Dtype dtype, const Problem& p) {
  const Problem columns = as_columns(p);
  const int width = pack_elements(dtype);
  return p.layout == Layout::nchw && p.spatial <= kShortPlane && columns.channels % width == 0 &&
         p.batch >= std::int64_t{kTogether} * column_tiles(columns, width).height;
}

// The number of parts per piece, at most `most`, for blocks of which `resident` run at once: as
// many as fit one wave; or, if that leaves much of it idle, as fill two to four waves better by 5
// %. Example: 64 pieces in 396 slots get 6 parts each, 384 blocks (576 would need a second wave for
// 180 of them); 256 pieces get 3, 768 blocks in 792 slots.
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

// Parts of the rows of a strip of columns: enough to keep the device busy.
inline std::int64_t column_parts(const ColumnTiles& tiles, int blocks_per_sm) {
  return filling_parts(tiles.across, resident_blocks(blocks_per_sm), tiles.down);
}

// The number of parts of a channel's sums; problems have elements.
inline std::int64_t parts(Variant variant, Dtype dtype, const Problem& p, int blocks_per_sm) {
  if (resolved(variant) == Variant::naive) return 0;
  if (p.layout == Layout::nhwc)
    return column_parts(column_tiles(p, pack_elements(dtype)), blocks_per_sm);
  const std::int64_t of_a_block = std::int64_t{kThreads} * kTogether * pack_elements(dtype);
  return filling_parts(p.channels, resident_blocks(blocks_per_sm),
                       div_up(p.per_channel(), of_a_block));
}

// Warps of a block that combines parts: at most one per part.
constexpr int finish_warps(std::int64_t parts) {
  return static_cast<int>(std::clamp<std::int64_t>(parts, 1, kFinishWarps));
}

// Bytes for `vectors` sums per channel and part.
inline std::size_t partial_bytes(Variant variant, Dtype dtype, const Problem& p, int blocks_per_sm,
                                 int vectors) {
  if (p.elements() == 0) return 0;
  return partials_bytes(parts(variant, dtype, p, blocks_per_sm), vectors, p.channels);
}

// The maximum over the column and plane methods, since a tensor may be unaligned.
inline std::size_t workspace_for(Variant variant, Dtype dtype, const Problem& p, int blocks_per_sm,
                                 int vectors) {
  const std::size_t usual = partial_bytes(variant, dtype, p, blocks_per_sm, vectors);
  if (!has_short_planes(dtype, p)) return usual;
  return std::max(usual, partial_bytes(variant, dtype, as_columns(p), blocks_per_sm, vectors));
}

// How a block adds its part of a channel: elements that a thread holds together, the number of such
// rounds, and the steps that combine threads. A plane that begins within a vector overlaps one
// more; unaligned columns have vectors of 1, so a block covers fewer rows at once. Problems have
// elements.
struct Additions {
  std::int64_t together;
  std::int64_t rounds;
  std::int64_t steps;
};

inline Additions additions(Dtype dtype, const Problem& p, int blocks_per_sm) {
  const std::int64_t count = parts(Variant::vectorized, dtype, p, blocks_per_sm);
  if (p.layout == Layout::nhwc) {
    constexpr std::int64_t kTreeSteps = 8; // over kThreads rows
    return {kTogether, div_up(column_tiles(p, 1).down, count), kTreeSteps};
  }
  const int width = pack_elements(dtype);
  const std::int64_t packs = p.batch * (div_up(p.spatial, width) + 1);
  return {kTogether * width, div_up(packs, count * kThreads * kTogether),
          kButterflySteps + kThreads / kLanes};
}

// The longest sequential chain of additions in batchnorm's sums, with which the error bounds grow.
// A thread sums the elements it holds first; a lane combines several columns of a short plane.
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
