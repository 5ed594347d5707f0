// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The checkers' records of reads and writes by the asynchronous proxy: bulk copies and wgmma.
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

// The destination of a bulk copy, in flight or landed, until its block ends.
struct BulkWrite {
  std::size_t bytes;
  Site site;
  const host::Block* block; // destination block of a load, issuing block of a store
  const void* barrier;      // null: a store
  unsigned phase;           // of the mbarrier at the issue
  bool in_flight;
  std::optional<host::Swizzle> swizzle; // of the tile, if a tensor map defines it
};
struct BulkRead { // of a store
  std::size_t bytes;
  Who who;
  const host::Block* block;
};
struct BulkUpdate { // by a bulk reduction in flight
  std::size_t bytes;
  Who who;
  const host::Block* block;
};
// The source of a landed copy between blocks of a cluster, or what a reduction updated there, until
// its block ends.
struct SentRange {
  std::size_t bytes;
  const host::Block* block;
};
// The last bulk store to an address.
struct LastStore {
  std::size_t bytes = 0;
  Site site{};
  std::uintptr_t from = 0;
  Who who = 0;

  // Whether a GPU executes the two at once: all lanes of a warp issue the same store, which ptxas
  // makes one instruction of the warp. Kernels of CUTLASS rely on it.
  bool is_of_same_warp(const LastStore& other) const {
    return bytes == other.bytes && site == other.site && from == other.from && who != other.who &&
           same_warp(who, other.who);
  }
};

// Records of tiles that wgmma reads.
struct WarpgroupNotes {
  struct Read {
    std::size_t bytes;
    const host::Block* block;
    std::vector<Who> readers; // oldest first, until waited for
  };
  // By warpgroup and first byte, until the block ends.
  std::map<std::pair<const void*, std::uintptr_t>, Read> reads;
  std::unordered_set<Site> sites;       // wgmma instructions
  std::optional<host::Swizzle> swizzle; // of the tiles that bulk loads currently write
};

} // namespace kg::check
