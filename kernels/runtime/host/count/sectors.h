// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The cost of one request of a warp, from its lanes' addresses, and the sectors of global memory
// that a launch touches.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

namespace kg::count {

inline constexpr unsigned kSectorBits = 5; // 32 bytes: the unit of requests from L1 to L2
inline constexpr unsigned kLanes = 32;

// The lanes of a warp that execute an instruction together, with the address of each lane.
struct Request {
  std::uint32_t lanes = 0;
  std::uint32_t copied = 0; // lanes whose data an asynchronous copy loads from global memory
  std::uintptr_t address[kLanes];
};

// The addresses of the request's lanes in ascending order, stored in `sorted`.
std::span<const std::uintptr_t> sorted_addresses(const Request& request,
                                                 std::uintptr_t (&sorted)[kLanes]);

// The minimum number of sectors for the bytes that lanes at these ascending addresses access.
std::uint64_t least_sectors(std::span<const std::uintptr_t> addresses, unsigned width);

// Shared-memory wavefronts. A wavefront serves one 4-byte word of each of the 32 banks, to any
// number of lanes. Half-warps are served together for 8-byte accesses, quarter-warps for 16-byte
// accesses. The group doubles if all lanes n and n ^ 1, or all n and n ^ 2, access the same
// address. Sources: NVIDIA on compute capability 7.x (forums.developer.nvidia.com, topic 77228),
// and counts on an H200 (docs/results/validation.md).
struct Wavefronts {
  std::uint64_t count = 0;
  std::uint64_t least = 0; // groups with a participating lane
};
Wavefronts wavefronts(const Request& request, unsigned width);

// L1 passes of a load that hits: the passes of its banks, which are shared memory's, but at least
// one per four lines, whose tags are looked up together. Sources: gpu-benches for the passes
// (github.com/te42kyfo/gpu-benches, commit 1c36d50, gpu-strides: a load of 32 floats takes 1, 2, 4,
// 8, 16 and 32 clocks at strides of 1, 2, 4, 8, 16 and 32, and 9 at a stride of 33); NVIDIA for the
// tags (forums.developer.nvidia.com, topic 312884).
std::uint64_t l1_passes(const Request& request, std::span<const std::uintptr_t> sorted,
                        unsigned width);

// A set of sectors.
class SectorSet {
 public:
  void insert(std::uintptr_t sector) {
    const std::uintptr_t group = sector / 64;
    if (group != last_group_ || !last_) {
      last_ = &groups_[group];
      last_group_ = group;
    }
    *last_ |= std::uint64_t{1} << sector % 64;
  }
  std::uint64_t size() const;
  void clear();

 private:
  std::unordered_map<std::uintptr_t, std::uint64_t> groups_; // 64 sectors each
  std::uint64_t* last_ = nullptr;
  std::uintptr_t last_group_ = 0;
};

} // namespace kg::count
