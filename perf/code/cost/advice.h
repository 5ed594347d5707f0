// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds causes of slow kernels other than memory accesses, from launches and compiler warnings.
// metrics.h has the hints for lines with inefficient accesses.
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
  double factor = 0; // upper bound on the speed-up of that part; 0: unknown
};

// Takes one launch of each kind per kernel. Reports:
//   - partially filled warps: a block of 25 threads occupies the 32 lanes of a warp
//   - a small tail wave on a GPU of kMultiprocessors, from threads and shared memory alone
//   - fewer blocks than multiprocessors, if the kernel moves at least kLeastBytes
//   - a line whose atomics have at least kCrowd lanes of a warp on one address
std::vector<Advice> launch_advice(const std::vector<count::Launch>& launches);

inline constexpr std::uint64_t kMultiprocessors = 132; // of an H100 SXM and an H200 (data sheets)
inline constexpr std::uint64_t kLeastBytes = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kCrowd = 8;
// Additions a clock in f32, 128, over those in f64, 64, of compute capability 9.0 (CUDA C++
// Programming Guide, "Throughput of Native Arithmetic Instructions").
inline constexpr double kFloatPerDouble = 2;

// Reports host timings without synchronization: a function reads the host's clock before and after
// launches without waiting for the device. Searches the text only: it misses a wait in a macro.
std::vector<Advice> timing_advice(const std::string& file, const std::string& text);

// Parses g++'s -Wdouble-promotion warnings: float data in device code promoted to double, each line
// once. `text_of` returns the text of the named source, or nothing if it cannot be read. The factor
// is kFloatPerDouble.
std::vector<Advice>
double_advice(std::string_view compiler,
              const std::function<std::optional<std::string>(const std::string&)>& text_of);

// One line each: "slow: kernel scale: blocks of 25 threads ... (up to 1.28x)\n".
std::string advice_text(const std::vector<Advice>& advice);

} // namespace kg::cost
