// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/sass/standing.h"

#include <algorithm>

namespace kg::sass {
namespace {

constexpr double kWarp = 32, kSchedulers = 4;

// H200: gpu-benches (github.com/te42kyfo/gpu-benches) of loads with few bytes under way and of
// copies; clock: NVIDIA's data sheet.
const Memory kMemories[] = {{"sm_90a",
                             "nvidia-h200",
                             132,
                             1.98e9,
                             4.3e12,
                             {{0, 0}, {4096, 0.94e12}, {8192, 1.7e12}, {16384, 2.76e12}}}};

// On the line through two points.
double between(double x, double x0, double y0, double x1, double y1) {
  return y0 + (x - x0) * (y1 - y0) / (x1 - x0);
}

double clocks(const Part& part, Pipe pipe) { return part.clocks[static_cast<std::size_t>(pipe)]; }

// Of a pass of one warp on its scheduler.
struct Clocks {
  double work = 0;    // what cannot be less: memory's, matrix instructions', multiplications'
  double latency = 0; // of a scheduler's share of the loads
};

std::string limiter_of(const Part& part, const Clocks& needed) {
  const auto [pipe, busiest] = part.busiest();
  if (std::max(busiest, needed.latency) <= needed.work) return "-";
  if (needed.latency > busiest) return "loads in flight";
  return part.is_issue_bound() ? "issue" : std::string(name(pipe));
}

} // namespace

double Memory::loads_at(double bytes_in_flight) const {
  std::size_t at = 1;
  while (at + 1 < points.size() && points[at].bytes_in_flight < bytes_in_flight) ++at;
  const Point &a = points[at - 1], &b = points[at];
  return std::min(copy_bytes_per_s, between(bytes_in_flight, a.bytes_in_flight, a.bytes_per_s,
                                            b.bytes_in_flight, b.bytes_per_s));
}

double Memory::enough() const {
  const Point &a = points[points.size() - 2], &b = points.back();
  return between(copy_bytes_per_s, a.bytes_per_s, a.bytes_in_flight, b.bytes_per_s,
                 b.bytes_in_flight);
}

const Memory* memory_of(std::string_view arch) {
  const auto at = std::find_if(std::begin(kMemories), std::end(kMemories),
                               [&](const Memory& one) { return one.arch == arch; });
  return at == std::end(kMemories) ? nullptr : at;
}

Standing standing_of(const Kernel& kernel, const Memory* memory) {
  const Part& part = kernel.analysis.main_part();
  Standing found;
  found.bytes_in_flight = part.flight.bytes_in_flight() * kWarp * kernel.warps;
  found.limiter = "-";
  Clocks needed;
  const double moved = kWarp * (part.global.loaded + part.global.stored);
  if (part.matrix > 0) {
    found.of = "mma";
    needed.work = clocks(part, Pipe::tensor);
  } else if (moved > 0) {
    if (memory == nullptr) return found;
    found.of = "copy";
    // Four schedulers share a multiprocessor's part of memory: a pass of a warp has all of it for a
    // quarter of the clocks that it has its scheduler.
    const double per_byte = kSchedulers * memory->sms * memory->clock_hz;
    needed.work = moved * per_byte / memory->copy_bytes_per_s;
    if (part.global.loaded > 0)
      needed.latency = kWarp * part.global.loaded * per_byte /
                       std::max(memory->loads_at(found.bytes_in_flight), 1.0);
  } else if (clocks(part, Pipe::fma) > 0) {
    found.of = "fma";
    needed.work = clocks(part, Pipe::fma);
  }
  if (needed.work <= 0) return {found.bytes_in_flight, 0, "", "-", 0};
  found.budget = needed.work;
  found.share_pct =
      100 * needed.work / std::max({needed.work, needed.latency, part.busiest().second});
  found.limiter = limiter_of(part, needed);
  return found;
}

} // namespace kg::sass
