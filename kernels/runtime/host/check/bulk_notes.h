// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the checkers keep of what the asynchronous proxy reads and writes: bulk copies, and wgmma.
#pragma once

#include "runtime/host/block.h"
#include "runtime/host/check/access.h"
#include "runtime/host/tensor_map.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

namespace kg::check {

// Where a bulk copy writes: still, or until its block ends.
struct BulkWrite {
  std::size_t bytes;
  Site site;
  const host::Block* block; // whose shared memory a load writes; that issued a store
  const void* barrier;      // null: a store
  unsigned phase;           // of the mbarrier at the issue
  bool in_flight;
  std::optional<host::Swizzle> swizzle; // of the tile, where a tensor map says it
};
struct BulkRead { // of a store
  std::size_t bytes;
  Who who;
  const host::Block* block;
};

// Of tiles that wgmma reads.
struct WarpgroupNotes {
  struct Read {
    std::size_t bytes;
    const host::Block* block;
    std::vector<Who> readers; // the oldest first, until waited for
  };
  // By warpgroup and first byte; until the block ends.
  std::map<std::pair<const void*, std::uintptr_t>, Read> reads;
  std::unordered_set<Site> sites;       // of wgmma
  std::optional<host::Swizzle> swizzle; // of the tiles that bulk loads write now
};

} // namespace kg::check
