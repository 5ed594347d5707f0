// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How long a launch would take at the least on a GPU that is not there, from what it costs
// (kernels/runtime/host/count) and what ptxas says of it. A model, not a measurement: it ranks
// kernels and says what binds them, and is labelled a model wherever it is shown.
//
// A launch takes the longest of the times that its parts would take alone, plus the time of a
// launch:
//
//   memory         each sector of global memory once, at the rate of a copy. What L2 holds from one
//                  launch to the next is not counted as saved: rows are timed cold.
//   L2             what blocks load, each sector once a block, and every sector of every other
//                  request, at L2's rate, and what the multiprocessor with most of them takes
//                  through its port
//   loads in flight
//                  a block's round trips one behind the other. Where each sector is read once, each
//                  is as long as others have measured for loads with so many bytes under way
//                  (Little's law), and never shorter than the latency; what a block reads again
//                  comes from L1, what others have read from L2. What is written takes its time
//                  besides: gpu-benches (gpu-stream, h200.txt) measured with 2 to 16 KiB of loads
//                  under way that a scaled copy takes as long as its loads and its stores take
//                  alone, one after the other, within 7 %.
//   L1 and shared memory
//                  passes, one per clock and multiprocessor
//   arithmetic     in f32 on the multiprocessor's lanes
//   issue          a scheduler's clocks for the instructions that its warps execute, or for those
//                  of the pipe that is busy longest; a multiprocessor has four
//   matrix units   mma.sync, and wgmma at the peak
//
// Blocks come in waves, as many at once as fit the GPU. Behind the last full wave there may be a
// rest, which takes as long as its fewest blocks allow: of 133 blocks on 132 multiprocessors that
// hold one each, the last has the GPU for itself, and takes as long as the others.
#pragma once

#include "perf/code/timing_model/gpu.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kg::model {

inline constexpr double kSectorBytes = 32;
inline constexpr double kLanes = 32;     // of a warp
inline constexpr double kSchedulers = 4; // of a multiprocessor, since Volta

// One launch.
struct Costs {
  double blocks = 0;
  double resident_blocks = 0;  // per multiprocessor, from registers, shared memory and threads
  double round_trips = 0;      // of a block on the average, one behind the other
  double load_bytes = 0;       // of global memory, that these bring
  double block_read_bytes = 0; // each once a block: the others come from L1
  double read_bytes = 0;       // each once: the others come from L2
  double sectors = 0;          // of global memory that L2 is asked for
  double unique_sectors = 0;   // different ones, read plus written
  double written_bytes = 0;    // different ones
  double wavefronts = 0;       // passes through L1 and shared memory
  double issue_clocks = 0;     // of schedulers, for the launch's instructions
  double f32_flops = 0;        // not those of matrix instructions
  std::map<std::string, double> matrix_flops; // by input type
  std::map<std::string, double> wgmma_flops;  // likewise, of warpgroups
};

enum class Bound { launch, memory, l2, loads, shared, arithmetic, issue, matrix };
std::string_view name(Bound bound);

struct Modelled {
  double seconds = 0;            // of the launch, launching included
  double waves = 0;              // blocks over those that fit the GPU at once
  std::map<Bound, double> parts; // each alone, in seconds
  Bound bound = Bound::launch;   // the longest part
  Bound limiter = Bound::launch; // the longest besides launching, if there is any
  double share_of_roof = 0;      // the least time for its unique bytes and flops, over `seconds`
};

// Throws kg::Error for a matrix type that the GPU's matrix units do not have, and unless blocks and
// resident_blocks are at least 1.
Modelled modelled(const Costs& costs, const Gpu& gpu);

// Spearman's rank correlation (1904) of two lists of equal length, at least 2; ties get their mean
// rank. NaN where one list is constant.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

} // namespace kg::model
