// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds causes of slow kernels and misleading benchmarks, from a source and the counts of its
// launches.
#pragma once

#include "perf/code/cost/advice.h"

namespace kg::cost {

// Reports kernels whose loads wait for stores. A thread alternates between loads and stores at
// least kLeastTrips times, and no pointer parameter is __restrict__, so loads may alias the stores.
// Silent if the kernel has a barrier or an atomic, which loads cannot pass anyway, or moves less
// than kLeastBytes. The factor compares the bytes in flight of the resident threads with
// kNeededInFlight, and is at most the number of round trips.
std::vector<Advice> alias_advice(const std::vector<count::Launch>& launches,
                                 const std::string& file, const std::string& text);

inline constexpr double kLeastTrips = 8; // per thread
// Bytes per multiprocessor, by Little's law: a copy's 4,255 GB/s times a memory latency of 479
// clocks at 1,980 MHz, over 132 multiprocessors, of an H200 (perf/code/timing_model/gpus.json).
inline constexpr double kNeededInFlight = 4255e9 * 479 / 1980e6 / 132;

// Reports kernels timed repeatedly on data that stays in the L2 cache: at least kLeastBytes and at
// most kL2Bytes. Silent below kLeastRepeats launches in a row, and if the timing function fills
// memory in a loop or contains a word with "flush" or "L2".
std::vector<Advice> cache_advice(const std::vector<count::Launch>& launches,
                                 const std::string& file, const std::string& text);

inline constexpr std::uint64_t kL2Bytes = 50 * 1024 * 1024; // of an H100 and an H200 (data sheets)
inline constexpr std::uint64_t kLeastRepeats = 3;
// L2's 5,120 bytes a clock at 1,980 MHz over a copy's 4,255 GB/s, of an H200
// (perf/code/timing_model/gpus.json).
inline constexpr double kL2OverMemory = 2.4;

} // namespace kg::cost
