// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What makes a kernel slow whatever its memory accesses are, read from its launches and from the
// compiler's warnings. Lines that lose at memory have hints of their own (metrics.h).
#pragma once

#include "runtime/host/count/counts.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kg::cost {

struct Advice {
  std::string place; // "kernel scale", or "scale.cu:12"
  std::string text;  // what is slow, and what to do
  double factor = 0; // how much faster that part could be at the most; 0: not known
};

// Of launches, one of each kind for a kernel:
// - warps that blocks fill in part: a block of 25 threads takes the 32 lanes of a warp
// - a last wave of few blocks, on a GPU of kMultiprocessors and by threads and shared memory alone
// - fewer blocks than multiprocessors, where the kernel moves at least kLeastBytes
// - a line whose atomics have kCrowd lanes or more of a warp on one address
std::vector<Advice> launch_advice(const std::vector<count::Launch>& launches);

inline constexpr std::uint64_t kMultiprocessors = 132; // of an H100 SXM and an H200 (data sheets)
inline constexpr std::uint64_t kLeastBytes = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kCrowd = 8;
// Additions a clock in f32, 128, over those in f64, 64, of compute capability 9.0 (CUDA C++
// Programming Guide, "Throughput of Native Arithmetic Instructions").
inline constexpr double kFloatPerDouble = 2;

// Of a source: launches after which a function reads the host's clock, which it read before them,
// and nothing in between waits for the device. By words alone: a macro that waits is not seen.
std::vector<Advice> timing_advice(const std::string& file, const std::string& text);

// Of what g++ said with -Wdouble-promotion: float data in device code that is computed with in
// double, each line once. `text_of` gives a named source, or nothing where it cannot be read. The
// factor is kFloatPerDouble.
std::vector<Advice>
double_advice(std::string_view compiler,
              const std::function<std::optional<std::string>(const std::string&)>& text_of);

// "slow: kernel scale: blocks of 25 threads ... (up to 1.28x)\n" for each.
std::string advice_text(const std::vector<Advice>& advice);

} // namespace kg::cost
