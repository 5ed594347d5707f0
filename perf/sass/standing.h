// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How fast a kernel's main part could be on a GPU that is not there, as far as its instructions
// decide: a bound, and an order in which to look at kernels. Not a time.
#pragma once

#include "perf/sass/kernels.h"

#include <string>
#include <string_view>
#include <vector>

namespace kg::sass {

// A GPU's memory, as others measured it.
struct Memory {
  std::string_view arch, gpu;
  double sms = 0;
  double clock_hz = 0;
  double copy_bytes_per_s = 0;
  struct Point {
    double bytes_in_flight; // of loads, on each multiprocessor
    double bytes_per_s;     // that all of them then get
  };
  std::vector<Point> points; // rising

  // Bytes per second that loads get with so many under way on each multiprocessor: on lines through
  // the points and on beyond the last, at most a copy's.
  double loads_at(double bytes_in_flight) const;
  // So many must be under way for a copy's rate.
  double enough() const;
};

// Null where nobody has published it.
const Memory* memory_of(std::string_view arch);

struct Standing {
  double bytes_in_flight = 0; // on one multiprocessor, with the warps that are resident
  // Percent of what `of` allows, at the most; nothing where the part moves and multiplies nothing,
  // or the GPU's memory is not known.
  double share_pct = 0;
  std::string of;      // "copy", "mma" or "fma"; empty: there is no share
  std::string limiter; // "-", "loads in flight", "issue" or a pipe's name
  double budget = 0;   // instructions of a pass that cost nothing; of copy and mma
};

Standing standing_of(const Kernel& kernel, const Memory* memory);

} // namespace kg::sass
