// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The order of warm-up, samples and canaries, and when to stop. Knows nothing of devices: a clock
// and two functions come from the caller, so that tests run it on invented time.
#pragma once

#include "perf/judge/statistics.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace kg::perf {

// Nanoseconds since some fixed moment; never runs backwards.
using Clock = std::function<double()>;
Clock steady_clock();

struct Protocol {
  judge::StopRule stop;

  // Warm-up ends when the medians of the last windows agree, and at the latest after
  // warm_up_most_ns.
  double warm_up_least_ns = 20e6;
  double warm_up_most_ns = 300e6;
  std::size_t warm_up_windows = 5;
  std::size_t warm_up_window = 5;   // samples in each
  double warm_up_agreement = 0.005; // (greatest - least) / greatest of those medians

  // A canary before the first block of samples and after each block, so that both see the same
  // machine. The 99 % interval of sixteen canaries leaves out the two least and the two greatest,
  // so that a hiccup does not make a machine look ill.
  std::size_t least_blocks = 15;
  double block_ns = 15e6;

  double rest = 0; // after the warm-up and after each block, in times of what these took
};

// What the two backends differ in: a GPU is quiet; a host shares its cores, caches and clock with
// others.
Protocol gpu_protocol();
Protocol host_protocol();

// Of a process that is one of many, when the process is the unit of replication: what more samples
// of one process would add is small beside what processes differ by. 60 to 80 ms a row on the host,
// setting up and verifying included.
Protocol brief(Protocol protocol);

// Of a process that takes turns with others (turns.h): blocks are turns, short beside the moods of
// a machine and long beside the switch, and as many for each row, precise or not.
Protocol in_turns(Protocol protocol);

// Of a device that has just been throttled by what it draws or by its heat, as an H200 is by most
// products that keep its matrix units busy: it works in short blocks, and rests for four fifths of
// the time.
Protocol resting(Protocol protocol);

enum class Pace { full, brief };

struct Sampled {
  std::vector<double> samples_ns; // all, in the order taken
  std::vector<double> canaries_ns;
  std::vector<double> block_medians_ns; // of its samples
  judge::Stop stop = judge::Stop::no;
  bool settled = false; // the warm-up ended by agreement
  std::size_t blocks = 0;
  std::size_t throttled_blocks = 0; // at whose end `throttled` named a reason
  std::string throttled_by = {};    // the last of these reasons
};

// What happens between blocks; each may be empty.
struct BetweenBlocks {
  std::function<std::string()> throttled; // what holds the device back; empty: nothing
  std::function<void()> pass_turn; // lets other processes have the machine for as long as a block
  std::function<void(double ns)> rest = {}; // waits for so long
};

// `sample` runs the row and returns one or more samples in ns; `canary` runs the canary once and
// returns its time, or is empty: then there are none.
struct Sampler {
  std::function<std::vector<double>()> sample;
  std::function<double()> canary = {};
  bool empties_caches = false; // before each sample, so that it does not matter who ran before
};

Sampled take_samples(const Protocol& protocol, const Clock& now,
                     const std::function<std::vector<double>()>& sample,
                     const std::function<double()>& canary, const BetweenBlocks& between = {});

// Several rows, block by block in turns: A B C A B C, until each has enough. What the device does
// meanwhile, to its clock or its temperature, then meets all of them alike. The first sample of
// each turn is not counted where the others have had the caches.
std::vector<Sampled> take_samples_in_turns(const Protocol& protocol, const Clock& now,
                                           const std::vector<Sampler>& rows,
                                           const BetweenBlocks& between = {});

} // namespace kg::perf
