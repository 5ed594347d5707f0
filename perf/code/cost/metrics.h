// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns counts into graded metrics, for one execution of one variant of a case, summed over its
// launches. Lower is better for every metric that is not informational.
#pragma once

#include "runtime/host/count/counts.h"
#include "runtime/work.h"

#include <string>
#include <string_view>
#include <vector>

namespace kg::cost {

struct Metric {
  std::string name;
  double value = 0;
  double minimum = 0; // theoretical minimum; 0: unknown
  // Counts of requests depend on how the compiler merges, hoists and repeats them. Other counts are
  // properties of the kernel.
  bool of_compiler = false;
  std::string site; // the line with the largest loss, or largest count if none is lost; "" if none
  std::string hint; // the usual fix there
  bool informs = false; // informational: lower is not better
  std::string fault;    // why there is no value
};

// Properties of the kernel:
//   sectors_per_request     32-byte sectors per global memory request; minimum: sectors that hold
//                           the requested bytes
//   unique_sectors          unique sectors read plus unique sectors written, summed over launches;
//                           minimum: work.bytes / 32
//   bank_conflict_degree    shared-memory wavefronts over the minimum for the widths; 1: none
//   barriers                of whole blocks
//   barrier_phases          of named barriers and mbarriers
//   collectives             of warps: shuffles, votes, __syncwarp, ...
//   matrix_instructions     of warps; minimum: as work.flops requires. Only if there are any.
//   wgmma_instructions, wgmma_flops
//                           of warpgroups; minimum: as work.flops requires. Only if there are any;
//                           so are all metrics of bulk copies:
//   bulk_load_bytes, bulk_store_bytes
//                           written to shared and to global memory by bulk copies
//   bulk_bytes_in_flight    maximum bytes in flight of a block's bulk loads; informational
//   atomics                 lanes that update memory atomically
//   atomic_contention       lanes per address within a request; 1: no contention
// Dependent on the compiler:
//   global_requests, sectors, shared_wavefronts
//   idle_lanes_pct          of 32 per request, global and shared memory
std::vector<Metric> metrics(const std::vector<count::Launch>& launches, const Work& work);

// A warp-level matrix instruction (MMA).
struct MatrixInstruction {
  std::string_view name;
  std::string_view type; // of the operands
  double flops;
};
// Null if the collective is not a matrix instruction.
const MatrixInstruction* matrix_instruction(std::string_view collective);

// Operand type of A and operations of a warpgroup instruction such as "m64n256k16<bf16>"; an FMA
// counts as two operations. Throws Error for an invalid name.
struct WarpgroupInstruction {
  std::string type;
  double flops = 0;
};
WarpgroupInstruction warpgroup_instruction(const std::string& name);

// What is wrong with a site and the usual fix. "" if nothing is wrong.
std::string hint(const count::Site& site);

// "global 16 B load"
std::string access_name(const count::Site& site);

// 128-byte wavefronts of a site beyond its minimum: the possible gain.
double excess(const count::Site& site);

} // namespace kg::cost
