// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What one request of a warp costs, from the addresses of its lanes; and which sectors of global
// memory a launch touches.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

namespace kg::count {

inline constexpr unsigned kSectorBits = 5; // 32 bytes: what L1 asks L2 for
inline constexpr unsigned kLanes = 32;

// The lanes of a warp that execute an instruction together, and where each accesses memory.
struct Request {
  std::uint32_t lanes = 0;
  std::uint32_t copied = 0; // of these, whose data an asynchronous copy brings from global memory
  std::uintptr_t address[kLanes];
};

// The addresses of the request's lanes in ascending order, in `sorted`.
std::span<const std::uintptr_t> sorted_addresses(const Request& request,
                                                 std::uintptr_t (&sorted)[kLanes]);

// The fewest sectors that hold the bytes which lanes at these addresses (ascending) access.
std::uint64_t least_sectors(std::span<const std::uintptr_t> addresses, unsigned width);

// Passes through shared memory. A pass serves one 4-byte word of each of the 32 banks, whoever
// wants it. Accesses of 8 bytes are served by half-warps, those of 16 bytes by quarters; where all
// lanes n and n ^ 1, or all n and n ^ 2, want the same, by twice as many lanes. So NVIDIA says of
// compute capability 7.x (forums.developer.nvidia.com, topic 77228), and so an H200 counts
// (docs/results/validation.md).
struct Wavefronts {
  std::uint64_t count = 0;
  std::uint64_t least = 0; // such groups with a lane that takes part
};
Wavefronts wavefronts(const Request& request, unsigned width);

// Passes of a load through L1, where it hits: those of its banks, which are shared memory's, and
// no fewer than a pass for four lines, whose tags are looked up together. So gpu-benches measured
// (github.com/te42kyfo/gpu-benches, commit 1c36d50, gpu-strides: a load of 32 floats takes 1, 2, 4,
// 8, 16 and 32 clocks at strides of 1, 2, 4, 8, 16 and 32, and 9 at one of 33), and NVIDIA says of
// the tags (forums.developer.nvidia.com, topic 312884).
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
