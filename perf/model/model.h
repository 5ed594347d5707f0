// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How long a launch would take on a GPU that is not there, from what it costs
// (kernels/runtime/host/ count) and what ptxas says of it. A model, not a measurement: it ranks
// kernels and says what binds them, and is labelled a model wherever it is shown.
//
// A launch takes the longest of the times that its parts would take alone, plus the time of a
// launch:
//
//   memory   each sector of global memory once, at the rate of the datasheet. What L2 holds from
//   one
//            launch to the next is not counted as saved: rows are timed cold.
//   l2       every sector of every request
//   latency  requests wait for memory; a warp has kOutstanding of them under way, and as many warps
//   as
//            are resident hide the time for each other (Little's law)
//   shared   passes through shared memory, one per clock and multiprocessor
//   issue    f32 arithmetic on the multiprocessor's lanes
//   matrix   matrix instructions
//
// The last three are limited by the multiprocessor with the most blocks: 133 blocks on 132
// multiprocessors take as long as 264.
#pragma once

#include "perf/model/gpu.h"

#include <map>
#include <string>
#include <string_view>

namespace kg::model {

inline constexpr double kSectorBytes = 32;

// Requests that a warp has under way at once. Compilers hoist a few independent loads in front of
// their first use; four is what an unrolled copy of four elements per thread has.
inline constexpr double kOutstanding = 4;

// One launch.
struct Costs {
  double blocks = 0;
  double warps_per_block = 0;
  double resident_blocks = 0; // per multiprocessor, from registers, shared memory and threads
  double requests = 0;        // of global memory, by warps
  double sectors = 0;         // that they touch
  double unique_sectors = 0;  // different ones, read plus written
  double wavefronts = 0;      // passes through shared memory
  double f32_flops = 0;       // not those of matrix instructions
  std::map<std::string, double> matrix_flops; // by input type
};

enum class Bound { launch, memory, l2, latency, shared, issue, matrix };
std::string_view name(Bound bound);

struct Modelled {
  double seconds = 0;            // of the launch, launching included
  std::map<Bound, double> parts; // each alone, in seconds
  Bound bound = Bound::launch;   // the longest part
  double share_of_roof = 0;      // the least time for its unique bytes and flops, over `seconds`
};

// Throws kg::Error for a matrix type that the GPU's matrix units do not have, and unless blocks,
// warps_per_block and resident_blocks are at least 1.
Modelled modelled(const Costs& costs, const Gpu& gpu);

// Spearman's rank correlation (1904) of two lists of equal length, at least 2; ties get their mean
// rank. NaN where one list is constant.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

} // namespace kg::model
