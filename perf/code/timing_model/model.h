// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Models the minimum time of a launch on a GPU that is not present, from its counts
// (kernels/runtime/host/count) and ptxas's resources. A model, not a measurement: it ranks kernels
// and names their limiter, and is labelled as a model wherever it is shown.
//
// A launch takes the launch overhead plus the maximum of its parts' times:
//
//   memory         each unique sector of global memory once, at copy bandwidth. Data that stay in
//                  L2 between launches save nothing, since rows are timed cold.
//   L2             loads of blocks, each sector once per block, and all sectors of other requests,
//                  at L2 bandwidth and at the port bandwidth of the busiest multiprocessor
//   loads in flight
//                  a block's dependent round trips. If each sector is read once, a round trip takes
//                  the time measured for loads with this many bytes in flight (Little's law), and
//                  at least the latency. Data that a block reads again come from L1, data that
//                  other blocks have read from L2. The time of writes is added: gpu-benches
//                  (gpu-stream, h200.txt) measured, with 2 to 16 KiB of loads in flight, that a
//                  scaled copy takes the sum of its loads' and stores' times, within 7 %.
//   L1 and shared memory
//                  wavefronts, one per cycle and multiprocessor
//   arithmetic     in f32 on the multiprocessor's FMA units
//   issue          a scheduler's cycles to issue its warps' instructions, or of its busiest pipe; a
//                  multiprocessor has four schedulers
//   matrix units   mma.sync, and wgmma at the peak
//
// Blocks run in waves of as many as fit the GPU at once. The tail wave takes as long as its smaller
// number of blocks allows. Of 133 blocks on 132 multiprocessors that hold one each, the last block
// has the GPU to itself and takes as long as the others.
#pragma once

#include "perf/code/timing_model/gpu.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kg::model {

inline constexpr double kSectorBytes = 32;
inline constexpr double kLanes = 32;     // of a warp
inline constexpr double kSchedulers = 4; // per multiprocessor, since Volta

// The costs of one launch.
struct Costs {
  double blocks = 0;
  double resident_blocks = 0;  // per multiprocessor, from registers, shared memory and threads
  double round_trips = 0;      // dependent round trips per block, on average
  double load_bytes = 0;       // loaded from global memory by these
  double block_read_bytes = 0; // each byte once per block; repeated loads come from L1
  double read_bytes = 0;       // each byte once; repeated loads come from L2
  double sectors = 0;          // of global memory, requested from L2
  double unique_sectors = 0;   // unique sectors read plus unique sectors written
  double written_bytes = 0;    // unique bytes
  double wavefronts = 0;       // of L1 and shared memory
  double issue_clocks = 0;     // of schedulers, for the launch's instructions
  double f32_flops = 0;        // without matrix instructions
  std::map<std::string, double> matrix_flops; // by input type
  std::map<std::string, double> wgmma_flops;  // of warpgroups, by input type
};

enum class Bound { launch, memory, l2, loads, shared, arithmetic, issue, matrix };
std::string_view name(Bound bound);

struct Modelled {
  double seconds = 0;            // of the launch, including launch overhead
  double waves = 0;              // blocks / blocks that fit the GPU at once
  std::map<Bound, double> parts; // each alone, in seconds
  Bound bound = Bound::launch;   // the longest part
  Bound limiter = Bound::launch; // the longest part except the launch overhead, if there is any
  double share_of_roof = 0;      // minimum time for its unique bytes and flops, over `seconds`
};

// Throws kg::Error if the GPU's Tensor Cores lack a matrix type, or unless blocks and
// resident_blocks are at least 1.
Modelled modelled(const Costs& costs, const Gpu& gpu);

// Spearman's rank correlation (1904) of two lists of equal length, at least 2; ties get their mean
// rank. NaN if one list is constant.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

} // namespace kg::model
