// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How busy other processes keep the machine while this one measures.
#pragma once

#include <optional>
#include <string_view>

namespace kg::perf {

// Seconds of processor time since the machine and the process started.
struct CpuTime {
  double busy = 0;     // of all processes, summed over cores
  double capacity = 0; // busy or idle: cores times the time that passed
  double own = 0;      // of this process
};

// From the first line of /proc/stat (proc(5)), whose unit is 1/ticks_per_s s. Nothing where that is
// not "cpu" and at least eight numbers.
std::optional<CpuTime> parse_proc_stat(std::string_view contents, double ticks_per_s);

// Nothing where the system does not say.
std::optional<CpuTime> cpu_time();

// The share of the machine that other processes had in between, in percent of all cores: 0 to 100.
double foreign_load_pct(const CpuTime& before, const CpuTime& after);

} // namespace kg::perf
