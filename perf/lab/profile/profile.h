// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the time of a row goes: what its kernels take, one by one, and what is left for the host.
// Pure, but for profile_row at the end.
#pragma once

#include "perf/judge/row.h"
#include "perf/lab/profile/trace.h"
#include "perf/measure/sampling.h"
#include "perf/measure/suite.h"

#include <span>
#include <string>
#include <vector>

namespace kg::profile {

// All launches of one kernel, or all copies, fills or calls of one name. Nanoseconds.
struct Part {
  Activity::Kind kind = Activity::Kind::kernel;
  std::string name;
  double launches = 0; // per run of the row
  double total_ns = 0; // per run
  double share = 0;    // of all parts on the device; of a call 0, since calls contain one another
  double min_ns = 0;   // of one launch
  double max_ns = 0;

  double mean_ns() const { return total_ns / launches; }
};

struct RowProfile {
  judge::RowKey key;
  std::size_t runs = 0;
  double wall_ns = 0; // mean per run, from the call on an idle device to completion
  double wall_min_ns = 0;
  double wall_max_ns = 0;
  double device_ns = 0;     // per run: the time in which the device did anything
  std::vector<Part> device; // what it did, the longest first
  std::vector<Part> calls;  // of the device's interface, the longest first; contain one another
  std::size_t dropped = 0;  // activities that the tracer lost: then the device did more

  // The rest: calls, launches' latency, waiting, and vendors' code that runs on the host.
  double host_ns() const { return wall_ns - device_ns; }
};

// From the wall times of the runs, at least one, and all that happened in them.
RowProfile aggregate(const judge::RowKey& key, std::span<const double> walls_ns,
                     const Trace& trace);

// The kernels that take longest when each row runs once, at most `count`; share is of all device
// time of the rows.
std::vector<Part> top_kernels(std::span<const RowProfile> rows, std::size_t count);

// Runs a workload whose result is known to be right: some runs to warm up, then `runs` traced ones.
RowProfile profile_row(const judge::RowKey& key, const perf::Workload& workload, Stream& stream,
                       const perf::Clock& now, int runs);

} // namespace kg::profile
