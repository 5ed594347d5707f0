// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cost/modelled.h"

#include "perf/cost/metrics.h"
#include "perf/judge/table.h"

#include <algorithm>
#include <fmt/format.h>

namespace kg::cost {
namespace {

double product(const std::array<unsigned, 3>& extents) {
  return static_cast<double>(extents[0]) * extents[1] * extents[2];
}

model::Costs costs_of(const count::Launch& launch, double resident_blocks) {
  model::Costs costs;
  costs.blocks = product(launch.grid);
  costs.resident_blocks = resident_blocks;
  costs.round_trips = static_cast<double>(launch.round_trips) / costs.blocks;
  costs.read_bytes = model::kSectorBytes * static_cast<double>(launch.unique_read);
  costs.unique_sectors = static_cast<double>(launch.unique_read + launch.unique_written);
  for (const count::Site& site : launch.sites) {
    if (site.access == count::Access::load)
      costs.load_bytes += model::kSectorBytes * static_cast<double>(site.sectors);
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

Taken taken_of(const judge::ExactRow& row) {
  constexpr std::size_t kRegisters = 0, kStaticShared = 3; // the table's order
  return {static_cast<int>(row.values.at(kRegisters)),
          static_cast<int>(row.values.at(kStaticShared))};
}

std::vector<ModelledLaunch> modelled(const std::vector<count::Launch>& launches, const Work& work,
                                     const model::Gpu& gpu, const TakenByKernel& taken) {
  const resources::SmLimits& limits = resources::sm_limits(arch_of(gpu));
  std::vector<ModelledLaunch> all;
  for (const count::Launch& launch : launches) {
    ModelledLaunch one;
    one.kernel = launch.kernel;
    one.takes.threads = static_cast<int>(product(launch.block));
    one.takes.shared_bytes = static_cast<int>(launch.shared_bytes);
    if (const auto known = taken.find(launch.kernel); known != taken.end()) {
      one.compiled = true;
      one.takes.registers = known->second.registers;
      one.takes.shared_bytes += known->second.static_shared;
    }
    const int resident = resources::resident_blocks(one.takes, limits);
    one.fits = resident > 0;
    if (one.fits) {
      one.costs = costs_of(launch, resident);
      if (launches.size() == 1 && one.costs.matrix_flops.empty()) one.costs.f32_flops = work.flops;
      one.modelled = model::modelled(one.costs, gpu);
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
