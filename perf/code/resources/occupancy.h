// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How many of a multiprocessor's warps a kernel can keep resident.
#pragma once

#include <string_view>

namespace kg::resources {

// What one multiprocessor offers. Sources: CUDA C++ Programming Guide 13.0, appendix Compute
// Capabilities, table Technical Specifications per Compute Capability (the first three);
// cudaDeviceProp::reservedSharedMemPerBlock (1 KiB from 8.0 on).
struct SmLimits {
  int arch; // compute capability times 10
  int blocks;
  int warps;
  int shared_kib;
  int reserved_shared; // bytes that the system takes of each block
};

// Throws Error naming the architectures that are known, for "sm_90a" or the like.
const SmLimits& sm_limits(std::string_view arch);

struct LaunchResources {
  int registers = 0;    // per thread
  int shared_bytes = 0; // static and dynamic, per block
  int threads = 0;      // per block
};

// Blocks that are resident at once: the least of what warps, block slots, registers and shared
// memory allow. Registers are given to a warp in units of 256, and to 4 warps alike (a warp belongs
// to one of 4 parts of the multiprocessor); shared memory in units of 128 bytes (256 before 8.0).
int resident_blocks(const LaunchResources& launch, const SmLimits& limits);

// Resident warps in percent of the most.
double occupancy_pct(const LaunchResources& launch, const SmLimits& limits);

} // namespace kg::resources
