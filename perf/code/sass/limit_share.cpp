// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/limit_share.h"

#include "perf/code/timing_model/model.h"

#include <algorithm>

namespace kg::sass {
namespace {

double clocks(const Part& part, Pipe pipe) { return part.clocks[static_cast<std::size_t>(pipe)]; }

// Cycles per iteration of one warp on its scheduler.
struct Clocks {
  double work = 0;    // lower bound: memory, matrix instructions, multiplications
  double latency = 0; // for the scheduler's share of the loads
};

std::string limiter_of(const Part& part, const Clocks& needed) {
  const auto [pipe, busiest] = part.busiest();
  if (std::max(busiest, needed.latency) <= needed.work) return "-";
  if (needed.latency > busiest) return "loads in flight";
  return part.is_issue_bound() ? "issue" : std::string(name(pipe));
}

} // namespace

LimitShare limit_share_of(const Kernel& kernel, const model::Gpu* gpu) {
  const Part& part = kernel.analysis.main_part();
  LimitShare found;
  found.bytes_in_flight = part.flight.bytes_in_flight() * model::kLanes * kernel.warps;
  found.limiter = "-";
  Clocks needed;
  const double moved = model::kLanes * (part.global.loaded + part.global.stored);
  if (part.matrix > 0) {
    found.of = part.products.empty() ? "mma" : "wgmma";
    needed.work = part.matrix_clocks;
  } else if (moved > 0) {
    if (gpu == nullptr) return found;
    found.of = "copy";
    // The four schedulers share a multiprocessor's memory bandwidth. One warp's iteration uses all
    // of it for a quarter of the scheduler's cycles.
    const double per_byte = model::kSchedulers * gpu->sms * gpu->clock_hz;
    needed.work = moved * per_byte / gpu->copy_bytes_per_s;
    if (part.global.loaded > 0)
      needed.latency = model::kLanes * part.global.loaded * per_byte /
                       std::max(gpu->loads_at(found.bytes_in_flight), 1.0);
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
