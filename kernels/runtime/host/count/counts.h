// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The results of the counters (counter.h): per launch, and per source line that accesses memory.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kg::count {

enum class Memory { global, shared };
enum class Access { load, store, atomic };

// One source line of a kernel that accesses memory with one width. A request is one execution of
// the instruction by the lanes of a warp that execute it together.
struct Site {
  std::string line; // "softmax.cu:52"
  Memory memory = Memory::global;
  Access access = Access::load;
  unsigned width = 0;    // bytes per lane
  unsigned accesses = 0; // number of such instructions on the line; the figures are sums

  std::uint64_t requests = 0;
  std::uint64_t lanes = 0; // participating lanes, summed over the requests
  // Global memory: 32-byte sectors that the requests touch, and the minimum that could hold these
  // bytes. A byte that several lanes of a request access counts once.
  std::uint64_t sectors = 0;
  std::uint64_t least_sectors = 0;
  // Shared memory: wavefronts over its 32 banks of 4-byte words, and the minimum for this width.
  std::uint64_t wavefronts = 0;
  std::uint64_t least_wavefronts = 0;
  // The same without lanes whose data an asynchronous copy delivers: they write on arrival, and the
  // hardware counter of wavefronts excludes them.
  std::uint64_t direct_wavefronts = 0;
  std::uint64_t least_direct_wavefronts = 0;
  // Wavefronts per access if a compiler merged a lane's adjacent accesses to 8 or 16 bytes, i.e.
  // two or four accesses into one. Counted only on request (Counter::count_merged).
  std::uint64_t wavefronts_8 = 0, wavefronts_16 = 0;
  // Global memory: L1 passes. L1 has the banks of shared memory and looks up four lines of 128
  // bytes per pass (sectors.h).
  std::uint64_t l1_passes = 0;
  // Atomics: unique addresses per request, summed, and the maximum number of lanes on one address.
  std::uint64_t addresses = 0;
  std::uint64_t most_lanes = 0;
};

struct Launch {
  std::string kernel;
  std::array<unsigned, 3> grid{1, 1, 1};
  std::array<unsigned, 3> block{1, 1, 1};
  std::size_t shared_bytes = 0; // dynamic

  std::vector<Site> sites; // sorted by line, memory, access and width
  // Unique sectors of global memory that the launch reads and writes: the minimum traffic from and
  // to memory, whatever the caches keep.
  std::uint64_t unique_read = 0;
  std::uint64_t unique_written = 0;
  // Unique sectors that each block loads, summed over the blocks: L1's requests to L2 if L1 keeps
  // everything that its block has read and nothing of other blocks.
  std::uint64_t block_read = 0;
  std::uint64_t barriers = 0;                       // of whole blocks
  std::map<std::string, std::uint64_t> barriers_at; // by line
  std::uint64_t barrier_phases = 0;                 // of named barriers and mbarriers
  std::map<std::string, std::uint64_t> collectives; // of warps, by name: __shfl_xor_sync
  // For each block the maximum over its threads, summed over the blocks. All loads of global memory
  // that a thread issues before its next store, atomic or collective form one round trip;
  // asynchronous copies do not count.
  std::uint64_t round_trips = 0;
  // Of warpgroups, by shape and type: "m64n256k16<bf16>", "m64n64k32<e4m3,e5m2>".
  std::map<std::string, std::uint64_t> wgmma;
  // Bytes that bulk copies write to shared memory (including zero fill of boxes) and to global
  // memory, and the maximum that a block's loads have in flight (bulk_flight.h).
  std::uint64_t bulk_loaded = 0, bulk_stored = 0, bulk_in_flight = 0;
};

// The launches that have ended since the last call, in order. Only in programs linked with the
// counters.
std::vector<Launch> take_launches();

} // namespace kg::count
