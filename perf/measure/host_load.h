// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The load that other processes put on the machine during a measurement.
#pragma once

#include <optional>
#include <string_view>

namespace kg::perf {

// Processor time in seconds: since boot, and `own` since this process started.
struct CpuTime {
  double busy = 0;     // of all processes, summed over cores
  double capacity = 0; // busy or idle: cores times elapsed time
  double own = 0;      // of this process
};

// Parses the first line of /proc/stat (proc(5)), whose unit is 1/ticks_per_s s. Empty unless the
// line is "cpu" and at least eight numbers.
std::optional<CpuTime> parse_proc_stat(std::string_view contents, double ticks_per_s);

// Empty if the system does not provide it.
std::optional<CpuTime> cpu_time();

// The share of the machine that other processes used between two readings, in percent of all cores:
// 0 to 100.
double foreign_load_pct(const CpuTime& before, const CpuTime& after);

} // namespace kg::perf
