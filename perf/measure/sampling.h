// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The sequence of warm-up, samples and canaries, and the stopping rule. Independent of devices: the
// caller passes a clock and the functions that sample, so tests can use simulated time.
#pragma once

#include "perf/judge/statistics.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace kg::perf {

// A monotonic clock in nanoseconds.
using Clock = std::function<double()>;
Clock steady_clock();

struct Protocol {
  judge::StopRule stop;

  // Warm-up ends when the medians of the last windows agree, or after warm_up_most_ns.
  double warm_up_least_ns = 20e6;
  double warm_up_most_ns = 300e6;
  std::size_t warm_up_windows = 5;
  std::size_t warm_up_window = 5;   // samples in each
  double warm_up_agreement = 0.005; // (maximum - minimum) / maximum of the medians

  // A canary runs before the first block of samples and after each block, so that canary and row
  // see the same machine. With sixteen canaries, the 99 % interval of the median excludes the two
  // smallest and the two largest times, so it tolerates outliers.
  std::size_t least_blocks = 15;
  double block_ns = 15e6;

  double rest = 0; // idle time after the warm-up and each block, as a multiple of its duration
};

// A GPU is quiet; a host shares cores, caches and clock with other processes.
Protocol gpu_protocol();
Protocol host_protocol();

// For one of many processes, where the process is the unit of replication. Processes differ more
// than the samples within one, so fewer samples suffice. On the host a row takes 60 to 80 ms,
// including set-up and verification.
Protocol brief(Protocol protocol);

// For a process that is interleaved with others (turns.h). A block is a turn: short compared with
// the machine's drift, and long compared with the switch. Every row has the same number of blocks.
Protocol interleaved(Protocol protocol);

// For a device that has just been throttled by power or heat, as an H200 is by most GEMMs on Tensor
// Cores. Blocks are short, and the device idles for four fifths of the time.
Protocol resting(Protocol protocol);

enum class Pace { full, brief };

struct Sampled {
  std::vector<double> samples_ns; // all, in the order taken
  std::vector<double> canaries_ns;
  std::vector<double> block_medians_ns; // of each block's samples
  judge::Stop stop = judge::Stop::no;
  bool settled = false; // the warm-up ended by agreement
  std::size_t blocks = 0;
  std::size_t throttled_blocks = 0; // blocks at whose end `throttled` named a reason
  std::string throttled_by = {};    // the last of these reasons
};

// Called between blocks. Each may be empty.
struct BetweenBlocks {
  std::function<std::string()> throttled;   // why the device is throttled, or ""
  std::function<void()> pass_turn;          // lets the other processes measure a block each
  std::function<void(double ns)> rest = {}; // idles
};

// `sample` runs the row and returns one or more samples in ns. `canary` runs the canary once and
// returns its time in ns; empty if the row has no canary.
struct Sampler {
  std::function<std::vector<double>()> sample;
  std::function<double()> canary = {};
  bool empties_caches = false; // before each sample, so that the order of rows does not matter
};

Sampled take_samples(const Protocol& protocol, const Clock& now,
                     const std::function<std::vector<double>()>& sample,
                     const std::function<double()>& canary, const BetweenBlocks& between = {});

// Samples several rows with interleaved blocks, A B C A B C, until each has enough. A drift of the
// device's clock or temperature then affects all rows equally. The first sample of each block is
// discarded if the other rows have used the caches.
std::vector<Sampled> take_interleaved_samples(const Protocol& protocol, const Clock& now,
                                              const std::vector<Sampler>& rows,
                                              const BetweenBlocks& between = {});

} // namespace kg::perf
