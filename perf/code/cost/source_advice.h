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
// which no load passes anyway, and where it moves less than kLeastBytes.
std::vector<Advice> alias_advice(const std::vector<count::Launch>& launches,
                                 const std::string& file, const std::string& text);

inline constexpr std::uint64_t kLeastTrips = 8; // of a thread

// Timed launches of a kernel, again and again, on what stays in the L2 cache: kL2Bytes or less, and
// kLeastBytes or more. Silent where it runs less than kLeastRepeats times in a row, and where the
// function that times it fills memory in a loop or has a word with "flush" or "L2".
std::vector<Advice> cache_advice(const std::vector<count::Launch>& launches,
                                 const std::string& file, const std::string& text);

inline constexpr std::uint64_t kL2Bytes = 50 * 1024 * 1024; // of an H100 and an H200 (data sheets)
inline constexpr std::uint64_t kLeastRepeats = 3;

} // namespace kg::cost
