// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// From what the counters counted to the figures that are graded: of one execution of one variant of
// a case, all its launches together. Less is better throughout.
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
  double minimum = 0; // what the problem needs at the least; 0 where nothing is known
  // Counts of requests depend on what a compiler merges, hoists and repeats; the others are the
  // kernel's own.
  bool of_compiler = false;
  std::string site; // the line that loses most, or has most of what cannot be lost; "" where none
  std::string hint; // what usually helps there
  bool informs = false; // less is not better
  std::string fault;    // why there is no value
};

// The kernel's own:
//   sectors_per_request     32-byte sectors per request to global memory; at the least what holds
//                           the requested bytes
//   unique_sectors          different sectors read and different ones written, summed over the
//                           launches; at the least work.bytes / 32
//   bank_conflict_degree    passes through shared memory over the fewest for the widths; 1 is none
//   barriers                of whole blocks
//   barrier_phases          of named barriers and mbarriers
//   collectives             of warps: shuffles, votes, __syncwarp, ...
//   matrix_instructions     of warps; at the least what work.flops needs. Only where there are any.
//   wgmma_instructions, wgmma_flops
//                           of warpgroups; at the least what work.flops needs. Only where there are
//                           any, as all of bulk copies:
//   bulk_load_bytes, bulk_store_bytes
//                           written to shared and to global memory by bulk copies
//   bulk_bytes_in_flight    the most of a block's bulk loads at a time; informs
//   atomics                 lanes that update memory atomically
//   atomic_contention       lanes per address within a request; 1 is none
// The compiler's, too:
//   global_requests, sectors, shared_wavefronts
//   idle_lanes_pct          of 32 per request, to either memory
std::vector<Metric> metrics(const std::vector<count::Launch>& launches, const Work& work);

// A collective of a warp that multiplies matrices.
struct MatrixInstruction {
  std::string_view name;
  std::string_view type; // of the operands
  double flops;
};
// Null where the collective is none.
const MatrixInstruction* matrix_instruction(std::string_view collective);

// Multiplications and additions of a warpgroup's "m64n256k16<bf16>", and the type of A. Throws
// Error for what is no such name.
struct WarpgroupInstruction {
  std::string type;
  double flops = 0;
};
WarpgroupInstruction warpgroup_instruction(const std::string& name);

// What is wrong with a site and what usually helps, in words; "" where nothing is.
std::string hint(const count::Site& site);

// "global 16 B load"
std::string access_name(const count::Site& site);

// 128-byte passes that a site takes beyond the fewest: how much there is to gain.
double excess(const count::Site& site);

} // namespace kg::cost
