// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How variant wgmma divides attention: a block's tile and its shared memory, the order in which
// blocks take tiles, and the keys that a tile needs.
#pragma once

#include "ops/attention/token_boxes.h"
#include "ops/attention/visible.h"
#include "primitives/bulk_pipeline.h"
#include "primitives/warpgroup_tile.h"
#include "runtime/device_code.h"

#include <cstddef>

namespace kg::attention {

// Extents of a block's tile, and how its threads share the registers of a multiprocessor, 65,536.
template <int kDepth_, int kValueDepth_>
struct Shape {
  static constexpr int kDepth = kDepth_, kValueDepth = kValueDepth_;
  static constexpr int kConsumers = kDepth <= 64 ? 3 : 2; // warpgroups
  static constexpr int kQueries = kConsumers * kWarpgroupRows;
  static constexpr int kKeys = kDepth <= 192 ? 128 : 64;
  static constexpr int kStages = 2;
  static constexpr int kThreads = (kConsumers + 1) * kWarpgroup;
  static constexpr int kProducerRegisters = kConsumers == 3 ? 32 : 24;
  static constexpr int kConsumerRegisters = kConsumers == 3 ? 160 : 240;
  static_assert(kValueDepth <= kDepth, "results take the place of Q");

  using TileQ = TokenBoxes<kQueries, kDepth>;
  using TileK = TokenBoxes<kKeys, kDepth>;
  using TileV = TokenBoxes<kKeys, kValueDepth>;

  // Shared memory, after the tiles' alignment.
  struct Barriers {
    BulkPipeline<1> q;
    BulkPipeline<kStages> k, v;
  };
  static constexpr int kAtK = TileQ::kBytes;
  static constexpr int kAtV = kAtK + kStages * TileK::kBytes;
  static constexpr int kAtBarriers = kAtV + kStages * TileV::kBytes;
  static constexpr std::size_t kSharedBytes = kTileAlignmentBytes + kAtBarriers + sizeof(Barriers);
  static_assert(kSharedBytes <= 227 * 1024);
};

// The order of tiles: sections of heads, in each the last queries of all heads first.
struct TileOrder {
  unsigned heads, tiles, section; // heads of all sequences; tiles per head; heads per section

  struct Place {
    int head, tile;
  };
  __host__ __device__ constexpr unsigned count() const { return heads * tiles; }
  __host__ __device__ __forceinline__ Place place(unsigned number) const {
    const unsigned first = number / (section * tiles) * section;
    const unsigned in_section = number - first * tiles;
    const unsigned width = heads - first < section ? heads - first : section;
    return {static_cast<int>(first + in_section % width),
            static_cast<int>(tiles - 1 - in_section / width)};
  }
};

// One tile of a head's queries, and the keys that any of them sees, from a multiple of kKeys on.
template <class Shape>
struct QueryTile {
  int first_query, queries, first_key, end_key;

  template <class T>
  __device__ __forceinline__ QueryTile(const Problem<T>& p, const Head<T>& head, int tile)
      : first_query(tile * Shape::kQueries), queries(head.queries - first_query), first_key(0),
        end_key(0) {
    if (queries <= 0) return; // a sequence shorter than the longest
    if (queries > Shape::kQueries) queries = Shape::kQueries;
    first_key = head.visible(p, first_query).first / Shape::kKeys * Shape::kKeys;
    end_key = head.visible(p, first_query + queries - 1).end;
  }
  __device__ __forceinline__ bool exists() const { return queries > 0; }
};

} // namespace kg::attention
