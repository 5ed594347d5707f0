// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cost/modelled.h"

#include "perf/cost/metrics.h"
#include "perf/judge/table.h"
#include "perf/resources/occupancy.h"

#include <algorithm>
#include <fmt/format.h>

namespace kg::cost {
namespace {

double product(const std::array<unsigned, 3>& extents) {
  return static_cast<double>(extents[0]) * extents[1] * extents[2];
}

model::Costs costs_of(const count::Launch& launch, int threads, double resident_blocks) {
  constexpr int kWarp = 32;
  model::Costs costs;
  costs.blocks = product(launch.grid);
  costs.warps_per_block = (threads + kWarp - 1) / kWarp;
  costs.resident_blocks = resident_blocks;
  costs.unique_sectors = static_cast<double>(launch.unique_read + launch.unique_written);
  for (const count::Site& site : launch.sites) {
    if (site.memory == count::Memory::global) costs.requests += static_cast<double>(site.requests);
    costs.sectors += static_cast<double>(site.sectors);
    costs.wavefronts += static_cast<double>(site.wavefronts);
  }
  for (const auto& [name, count] : launch.collectives) {
    if (const MatrixInstruction* const instruction = matrix_instruction(name))
      costs.matrix_flops[std::string(instruction->type)] +=
          static_cast<double>(count) * instruction->flops;
  }
  return costs;
}

} // namespace

std::string arch_of(const model::Gpu& gpu) {
  std::string digits = gpu.compute_capability;
  digits.erase(std::remove(digits.begin(), digits.end(), '.'), digits.end());
  return "sm_" + digits;
}

std::vector<ModelledLaunch> modelled(const std::vector<count::Launch>& launches, const Work& work,
                                     const model::Gpu& gpu, const TakenByKernel& taken) {
  const resources::SmLimits& limits = resources::sm_limits(arch_of(gpu));
  std::vector<ModelledLaunch> all;
  for (const count::Launch& launch : launches) {
    ModelledLaunch one{launch.kernel, false, false, {}};
    resources::LaunchResources takes;
    takes.threads = static_cast<int>(product(launch.block));
    takes.shared_bytes = static_cast<int>(launch.shared_bytes);
    if (const auto known = taken.find(launch.kernel); known != taken.end()) {
      one.compiled = true;
      takes.registers = known->second.registers;
      takes.shared_bytes += known->second.static_shared;
    }
    const int resident = resources::resident_blocks(takes, limits);
    one.fits = resident > 0;
    if (one.fits) {
      model::Costs costs = costs_of(launch, takes.threads, resident);
      if (launches.size() == 1 && costs.matrix_flops.empty()) costs.f32_flops = work.flops;
      one.modelled = model::modelled(costs, gpu);
    }
    all.push_back(std::move(one));
  }
  return all;
}

std::string modelled_text(const std::vector<count::Launch>& launches, const Work& work,
                          const model::Gpu& gpu, const TakenByKernel& taken) {
  judge::TextTable table(
      {"kernel", "modelled time", "bound by", "share of roof", "occupancy from"});
  for (const ModelledLaunch& one : modelled(launches, work, gpu, taken)) {
    const char* from = one.compiled ? "registers, threads and shared memory"
                                    : "threads and dynamic shared memory alone";
    if (one.fits)
      table.add({one.kernel, fmt::format("{:.3g} us", 1e6 * one.modelled.seconds),
                 std::string(model::name(one.modelled.bound)),
                 fmt::format("{:.0f} %", 100 * one.modelled.share_of_roof), from});
    else
      table.add({one.kernel, "-", "does not fit", "-", from});
  }
  std::string text = fmt::format("model, not measured: {}\n{}", gpu.name, table.plain());
  if (launches.size() > 1 && work.flops > 0)
    text += "arithmetic is left out: how the launches share it is not known\n";
  return text;
}

} // namespace kg::cost
