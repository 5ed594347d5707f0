// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What makes a kernel, or its benchmark, slow or misleading, read from a source together with the
// counts of its launches.
#pragma once

#include "perf/code/cost/advice.h"

namespace kg::cost {

// Kernels whose loads wait for stores: a thread goes back and forth between loads and stores at
// least kLeastTrips times, and what it reads may be what it has written, because no pointer among
// the parameters is __restrict__. Silent where the kernel has a barrier or an atomic operation,
// which no load passes anyway, and where it moves less than kLeastBytes. The factor is that of the
// round trips, if all loads of a thread were in flight at once, as far as kNeededInFlight asks for
// more bytes in flight than the resident threads have.
std::vector<Advice> alias_advice(const std::vector<count::Launch>& launches,
                                 const std::string& file, const std::string& text);

inline constexpr double kLeastTrips = 8; // of a thread
// Bytes of a multiprocessor, by Little's law: a copy's 4,255 GB/s times the memory's latency of 479
// clocks at 1,980 MHz, over 132 multiprocessors, of an H200 (perf/code/timing_model/gpus.json).
inline constexpr double kNeededInFlight = 4255e9 * 479 / 1980e6 / 132;

// Timed launches of a kernel, again and again, on what stays in the L2 cache: kL2Bytes or less, and
// kLeastBytes or more. Silent where it runs less than kLeastRepeats times in a row, and where the
// function that times it fills memory in a loop or has a word with "flush" or "L2".
std::vector<Advice> cache_advice(const std::vector<count::Launch>& launches,
                                 const std::string& file, const std::string& text);

inline constexpr std::uint64_t kL2Bytes = 50 * 1024 * 1024; // of an H100 and an H200 (data sheets)
inline constexpr std::uint64_t kLeastRepeats = 3;
// L2's 5,120 bytes a clock at 1,980 MHz over a copy's 4,255 GB/s, of an H200
// (perf/code/timing_model/gpus.json).
inline constexpr double kL2OverMemory = 2.4;

} // namespace kg::cost
