// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/host_load.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

namespace kg::perf {

std::optional<CpuTime> parse_proc_stat(std::string_view contents, double ticks_per_s) {
  std::istringstream line{std::string(contents.substr(0, contents.find('\n')))};
  std::string name;
  // user, nice, system, idle, iowait, irq, softirq, steal. The guest times that follow are included
  // in the first two.
  std::array<double, 8> ticks{};
  line >> name;
  for (double& kind : ticks) line >> kind;
  if (!line || name != "cpu") return std::nullopt;
  constexpr std::size_t kIdle = 3, kIoWait = 4;
  CpuTime result;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const double seconds = ticks[i] / ticks_per_s;
    result.capacity += seconds;
    if (i != kIdle && i != kIoWait) result.busy += seconds;
  }
  return result;
}

std::optional<CpuTime> cpu_time() {
  std::ifstream file("/proc/stat");
  std::string line;
  std::getline(file, line);
  std::optional<CpuTime> result = parse_proc_stat(line, static_cast<double>(sysconf(_SC_CLK_TCK)));
  timespec own{};
  if (!result || clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own) != 0) return std::nullopt;
  result->own = static_cast<double>(own.tv_sec) + 1e-9 * static_cast<double>(own.tv_nsec);
  return result;
}

double foreign_load_pct(const CpuTime& before, const CpuTime& after) {
  const double capacity = after.capacity - before.capacity;
  if (capacity <= 0) return 0; // shorter than a tick
  const double foreign = (after.busy - before.busy) - (after.own - before.own);
  return std::clamp(100 * foreign / capacity, 0.0, 100.0); // ticks are coarse
}

} // namespace kg::perf
