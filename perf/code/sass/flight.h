// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which loads from global memory are under way together, and which wait for one another.
#pragma once

#include "perf/code/sass/listing.h"

#include <cstddef>
#include <string>
#include <vector>

namespace kg::sass {

// A use of loaded data for which the thread has to wait.
struct Wait {
  std::string line;        // of the loads' first
  std::string kernel_line; // of its call in the kernel
  std::string used_at;     // line of the instruction that waits
  std::string used_by;     // its opcode
  int loads = 0;           // that have arrived when it goes on, since the wait before
  int bytes = 0;           // of one thread
  int width = 0;           // of the widest of them
  bool round_trip = false; // otherwise they were issued in front of the wait before
};

// Of one pass along a path, by one thread.
struct Flight {
  int loads = 0;
  int bytes = 0;
  // Loads one behind the other: a load that is issued after a wait is a round trip of its own. Less
  // than one where a loop loads several passes ahead.
  double round_trips = 0;
  int most_bytes = 0; // under way at once: issued, and none of them used yet
  std::vector<Wait> waits;

  // Bytes under way on the average, while the thread waits for any.
  double bytes_in_flight() const { return round_trips > 0 ? bytes / round_trips : bytes; }
};

// Along the instructions `path` of `code`. Data of a load is used when an instruction reads or
// overwrites one of its registers, that of a copy to shared memory (LDGSTS) when DEPBAR waits for
// its group; loads issued before it have
// then arrived, too. Where the path is that of a loop it is gone through several times, so that
// loads ahead for later passes are seen; counts are of one pass.
Flight flight_of(const std::vector<Instruction>& code, const std::vector<std::size_t>& path,
                 bool loop);

} // namespace kg::sass
