// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The fixed device that the host backend presents, so that launch shapes, `automatic` choices and
// counts are the same on every machine. It has the limits of compute capability 8.0 (CUDA C++
// Programming Guide, "Technical Specifications per Compute Capability") but few SMs, so that a grid
// sized to fill it is cheap to execute.
//
// KERNELGRADE_VIRTUAL_DEVICE=small lowers the limits that tests exceed on purpose, to reach them
// with less work; tests under the checkers use it. KERNELGRADE_VIRTUAL_DEVICE=sm_90a presents
// compute capability 9.0 and its shared memory instead.
#pragma once

#include <algorithm>
#include <cstddef>

namespace kg::host {

inline constexpr int kComputeMajor = 8;
inline constexpr int kComputeMinor = 0;
inline constexpr int kSmCount = 16;
inline constexpr int kMaxThreadsPerBlock = 1024;
inline constexpr int kMaxThreadsPerSm = 2048;
inline constexpr int kMaxBlocksPerSm = 32;
inline constexpr std::size_t kSharedBytesDefault = 48 * 1024;
inline constexpr std::size_t kSharedBytesOptIn = 163 * 1024;
inline constexpr std::size_t kSharedBytesPerSm = 164 * 1024;
inline constexpr std::size_t kReservedSharedBytes = 1024; // per block, reserved by the system
inline constexpr std::size_t kL2Bytes = 8 * 1024 * 1024;
inline constexpr int kMaxGridX = 2147483647;
inline constexpr int kMaxGridYz = 65535;
inline constexpr int kMaxBlockZ = 64;
inline constexpr int kMaxClusterBlocks = 8;
// Each block of a cooperative launch runs on its own OS thread; this is their limit, as occupancy
// is on a GPU.
inline constexpr int kMaxCooperativeBlocks = 4 * kSmCount;

inline constexpr int kHopperMajor = 9;
inline constexpr int kHopperMinor = 0;
inline constexpr std::size_t kHopperSharedBytesOptIn = 227 * 1024;
inline constexpr std::size_t kHopperSharedBytesPerSm = 228 * 1024;
// Shared memory that an executor allocates per block, whichever device is presented.
inline constexpr std::size_t kMostSharedBytes = kHopperSharedBytesOptIn;

inline constexpr int kSmallSmCount = 4;
inline constexpr std::size_t kSmallSharedBytesOptIn = 64 * 1024; // as in compute capability 7.5
inline constexpr int kSmallMaxGridYz = 1023;

// Number of blocks that an SM holds at once; registers impose no limit here.
constexpr int resident_blocks_per_sm(unsigned threads, std::size_t shared_bytes,
                                     std::size_t shared_bytes_per_sm) {
  constexpr unsigned kWarp = 32;
  const auto by_threads =
      kMaxThreadsPerSm / static_cast<int>((threads + kWarp - 1) / kWarp * kWarp);
  const auto by_shared =
      static_cast<int>(shared_bytes_per_sm / (shared_bytes + kReservedSharedBytes));
  return std::min({by_threads, by_shared, kMaxBlocksPerSm});
}

} // namespace kg::host
