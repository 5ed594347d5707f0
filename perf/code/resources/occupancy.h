// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes how many warps of a kernel a multiprocessor can keep resident.
#pragma once

#include <string_view>

namespace kg::resources {

// Limits of one multiprocessor. Sources: CUDA C++ Programming Guide 13.0, appendix Compute
// Capabilities, table Technical Specifications per Compute Capability (the first three);
// cudaDeviceProp::reservedSharedMemPerBlock (1 KiB from 8.0 on).
struct SmLimits {
  int arch; // compute capability times 10
  int blocks;
  int warps;
  int shared_kib;
  int reserved_shared; // bytes that the system reserves per block
};

// Throws Error with the list of known architectures if `arch` ("sm_90a") is unknown.
const SmLimits& sm_limits(std::string_view arch);

struct LaunchResources {
  int registers = 0;    // per thread
  int shared_bytes = 0; // static and dynamic, per block
  int threads = 0;      // per block
};

// Resident blocks: the minimum of the limits by warps, block slots, registers and shared memory. A
// warp's registers are allocated in units of 256 and for 4 warps at a time (one per multiprocessor
// partition); shared memory in units of 128 bytes (256 before 8.0).
int resident_blocks(const LaunchResources& launch, const SmLimits& limits);

// Resident warps in percent of the maximum.
double occupancy_pct(const LaunchResources& launch, const SmLimits& limits);

} // namespace kg::resources
