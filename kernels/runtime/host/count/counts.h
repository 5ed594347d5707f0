// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the counters counted (counter.h): per launch, and per source line that accesses memory.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kg::count {

enum class Memory { global, shared };
enum class Access { load, store, atomic };

// One line of a kernel that accesses memory with one width. A request is one execution of the
// instruction by the lanes of a warp that execute it together.
struct Site {
  std::string line; // "softmax.cu:52"
  Memory memory = Memory::global;
  Access access = Access::load;
  unsigned width = 0;    // bytes per lane
  unsigned accesses = 0; // instructions of the line that make them; the figures are their sums

  std::uint64_t requests = 0;
  std::uint64_t lanes = 0; // that took part, summed over the requests
  // Global memory: 32-byte sectors that the requests touch, and the fewest that could hold the
  // bytes they touch. A byte that several lanes of a request want counts once.
  std::uint64_t sectors = 0;
  std::uint64_t least_sectors = 0;
  // Shared memory: passes through its 32 banks of 4-byte words, and the fewest that the width
  // allows.
  std::uint64_t wavefronts = 0;
  std::uint64_t least_wavefronts = 0;
  // The same two without the lanes whose data an asynchronous copy brings: they are written when
  // they arrive, and the hardware's count of passes is without them.
  std::uint64_t direct_wavefronts = 0;
  std::uint64_t least_direct_wavefronts = 0;
  // Had a compiler merged a lane's neighbouring accesses to 8 and to 16 bytes: passes of each
  // access, so that of two or four of them one is made. Counted where it is asked for
  // (Counter::count_merged).
  std::uint64_t wavefronts_8 = 0, wavefronts_16 = 0;
  // Global memory: passes through L1, which has shared memory's banks and looks up four lines of
  // 128 bytes a pass (sectors.h).
  std::uint64_t l1_passes = 0;
  // Atomics: different addresses per request, summed, and the most lanes on one of them.
  std::uint64_t addresses = 0;
  std::uint64_t most_lanes = 0;
};

struct Launch {
  std::string kernel;
  std::array<unsigned, 3> grid{1, 1, 1};
  std::array<unsigned, 3> block{1, 1, 1};
  std::size_t shared_bytes = 0; // dynamic

  std::vector<Site> sites; // sorted by line, memory, access and width
  // Different sectors of global memory that the launch reads, and writes: what must come from and
  // go to memory once, whatever the caches keep.
  std::uint64_t unique_read = 0;
  std::uint64_t unique_written = 0;
  // Different sectors that each block loads, summed over the blocks: what L1 asks L2 for, if it
  // keeps all that its block has read and nothing of other blocks.
  std::uint64_t block_read = 0;
  std::uint64_t barriers = 0;                       // of whole blocks
  std::map<std::string, std::uint64_t> barriers_at; // by line
  std::uint64_t barrier_phases = 0;                 // of named barriers and mbarriers
  std::map<std::string, std::uint64_t> collectives; // of warps, by name: __shfl_xor_sync
  // Of each block's thread with most, summed over the blocks. Loads of global memory that a thread
  // issues before it stores, updates or exchanges anything are one round trip; asynchronous copies
  // are none.
  std::uint64_t round_trips = 0;
  // Of warpgroups, by shape and type: "m64n256k16<bf16>", "m64n64k32<e4m3,e5m2>".
  std::map<std::string, std::uint64_t> wgmma;
  // Bytes that bulk copies write to shared memory, boxes' zeros included, and to global memory; and
  // the most that a block's loads have under way (bulk_flight.h).
  std::uint64_t bulk_loaded = 0, bulk_stored = 0, bulk_in_flight = 0;
};

// The launches that have ended since the last call, in order. Of a program that is linked with the
// counters.
std::vector<Launch> take_launches();

} // namespace kg::count
