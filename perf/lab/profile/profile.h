// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a row's time goes: the time of each kernel, and the rest on the host. Pure, except
// profile_row at the end.
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
  double share = 0;    // of all parts on the device; 0 for calls, which contain one another
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
  double device_ns = 0;     // per run: the time in which the device was busy
  std::vector<Part> device; // its activities, longest first
  std::vector<Part> calls;  // calls of the device's API, longest first; they contain one another
  std::size_t dropped = 0;  // activities lost by the tracer: device_ns is then too small

  // The rest: calls, launch latency, waiting, and vendor code on the host.
  double host_ns() const { return wall_ns - device_ns; }
};

// From the runs' wall times (at least one) and all activities during the runs.
RowProfile aggregate(const judge::RowKey& key, std::span<const double> walls_ns,
                     const Trace& trace);

// The kernels with the longest total time when each row runs once, at most `count`; share is of all
// device time of the rows.
std::vector<Part> top_kernels(std::span<const RowProfile> rows, std::size_t count);

// Runs a workload with a verified result: some warm-up runs, then `runs` traced runs.
RowProfile profile_row(const judge::RowKey& key, const perf::Workload& workload, Stream& stream,
                       const perf::Clock& now, int runs);

} // namespace kg::profile
