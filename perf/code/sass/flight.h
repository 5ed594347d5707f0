// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which loads from global memory are in flight together, and which depend on each other.
#pragma once

#include "perf/code/sass/listing.h"

#include <cstddef>
#include <string>
#include <vector>

namespace kg::sass {

// A use of loaded data for which the thread has to wait.
struct Wait {
  std::string line;        // of the first of the loads
  std::string kernel_line; // the kernel's line that calls it
  std::string used_at;     // line of the instruction that waits
  std::string used_by;     // its opcode
  int loads = 0;           // that complete with this wait, since the previous wait
  int bytes = 0;           // per thread
  int width = 0;           // of the widest load
  bool round_trip = false; // false: they were issued before the previous wait
};

// Per iteration along a path, and per thread.
struct Flight {
  int loads = 0;
  int bytes = 0;
  // Dependent loads: a load issued after a wait is another round trip. Less than one if a loop
  // loads several iterations ahead.
  double round_trips = 0;
  int most_bytes = 0; // maximum in flight: issued and not yet used
  std::vector<Wait> waits;

  // Average bytes in flight while the thread waits for any load.
  double bytes_in_flight() const { return round_trips > 0 ? bytes / round_trips : bytes; }
};

// Follows the instructions `path` of `code`. A load's data is used when an instruction reads or
// overwrites one of its registers. A copy to shared memory (LDGSTS) is used when DEPBAR waits for
// its group. Loads issued earlier have arrived by then as well. A loop's path is followed several
// times, so that loads ahead for later iterations are found. Counts are per iteration.
Flight flight_of(const std::vector<Instruction>& code, const std::vector<std::size_t>& path,
                 bool loop);

} // namespace kg::sass
