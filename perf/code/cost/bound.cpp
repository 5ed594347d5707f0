// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/cost/bound.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kg::cost {
namespace {

using count::Launch;
using count::Memory;
using count::Site;

constexpr const char* kWaves = "waves";
constexpr const char* kResidentBlocks = "resident_blocks";

std::string short_name(const std::string& gpu) {
  constexpr std::string_view kVendor = "nvidia-";
  return gpu.starts_with(kVendor) ? gpu.substr(kVendor.size()) : gpu;
}

std::string kib(double bytes) { return fmt::format("{:.3g} KiB", bytes / 1024); }

// How a launch fills the GPU: the figures that change when a bound changes.
std::string geometry(const ModelledLaunch& one, const model::Gpu& gpu) {
  const model::Costs& costs = one.costs;
  std::string text = fmt::format(
      "{}: {} blocks of {} threads, {:.3g} waves of {} ({} on each of {} multiprocessors)",
      one.kernel, costs.blocks, one.takes.threads, one.modelled.waves,
      costs.resident_blocks * gpu.sms, costs.resident_blocks, gpu.sms);
  if (costs.round_trips == 0) return text;
  const double on_each =
      std::min(costs.blocks / std::min(costs.blocks, gpu.sms), costs.resident_blocks);
  return text +
         fmt::format(", {:.3g} round trips a block with {} in flight on each busy multiprocessor",
                     costs.round_trips,
                     kib(costs.load_bytes / costs.blocks / costs.round_trips * on_each));
}

const char* advice(model::Bound bound) {
  switch (bound) {
  case model::Bound::launch: return "fewer launches";
  case model::Bound::memory: return "fewer unique sectors";
  case model::Bound::l2: return "fewer sectors, or more blocks to share them";
  case model::Bound::loads: return "more blocks, or more loads before the first is used";
  case model::Bound::shared: return "fewer passes, or more blocks to share them";
  case model::Bound::issue: return "fewer instructions for the same bytes";
  case model::Bound::arithmetic:
  case model::Bound::matrix: return "blocks that the multiprocessors share evenly";
  }
  return "";
}

// The line with the largest part of the limiting quantity.
std::string site_of(const Launch& launch, model::Bound bound) {
  std::uint64_t most = 0;
  std::string line;
  for (const Site& site : launch.sites) {
    std::uint64_t has = 0;
    if (bound == model::Bound::shared)
      has = site.wavefronts + site.l1_passes;
    else if (bound != model::Bound::loads || site.access == count::Access::load)
      has = site.sectors;
    if (has <= most) continue;
    most = has;
    line = site.line;
  }
  return line;
}

std::string does_not_fit(const ModelledLaunch& one, const model::Gpu& gpu) {
  return fmt::format("{} does not fit a multiprocessor of {}: a block of {} threads with {} "
                     "registers each and {} bytes of shared memory; the launch would fail",
                     one.kernel, gpu.name, one.takes.threads, one.takes.registers,
                     one.takes.shared_bytes);
}

} // namespace

bool informs(std::string_view metric) {
  return metric == kWaves || metric == kResidentBlocks || metric == "bulk_bytes_in_flight";
}

std::vector<Metric> bound_metrics(const std::vector<Launch>& launches, const Work& work,
                                  const model::Gpu& gpu, const TakenByKernel& taken) {
  Metric bound{"bound_ns." + short_name(gpu.name), 0, 0, true, "", "", false, ""};
  Metric trips{"serial_round_trips", 0, 0, true, "", "", false, ""};
  Metric waves{kWaves, 0, 0, false, "", "", true, ""};
  Metric resident{kResidentBlocks, 0, 0, false, "", "", true, ""};
  const std::vector<ModelledLaunch> all = modelled(launches, work, gpu, taken);
  double longest = 0, most_trips = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const ModelledLaunch& one = all[i];
    if (!one.fits) {
      for (Metric* metric : {&bound, &trips, &waves, &resident})
        metric->fault = does_not_fit(one, gpu);
      break;
    }
    const model::Modelled& time = one.modelled;
    bound.value += 1e9 * time.seconds;
    const double serial = std::ceil(time.waves) * one.costs.round_trips;
    trips.value += serial;
    waves.value += time.waves;
    resident.value =
        i == 0 ? one.costs.resident_blocks : std::min(resident.value, one.costs.resident_blocks);
    if (time.seconds > longest) {
      longest = time.seconds;
      bound.site = site_of(launches[i], time.limiter);
      bound.hint = fmt::format("limited by {}: {}; {}", model::name(time.limiter),
                               geometry(one, gpu), advice(time.limiter));
    }
    if (serial > most_trips) {
      most_trips = serial;
      trips.site = site_of(launches[i], model::Bound::loads);
      trips.hint = fmt::format("limited by loads in flight: {}; {}", geometry(one, gpu),
                               advice(model::Bound::loads));
    }
  }
  bound.minimum = 1e9 * (gpu.launch_s + work.bytes / gpu.copy_bytes_per_s);
  return {bound, trips, waves, resident};
}

} // namespace kg::cost
