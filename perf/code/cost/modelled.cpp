// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/cost/modelled.h"

#include "perf/code/cost/metrics.h"
#include "perf/format/table.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace kg::cost {
namespace {

double product(const std::array<unsigned, 3>& extents) {
  return static_cast<double>(extents[0]) * extents[1] * extents[2];
}

// Instructions that the launch's warps issue. Computed from the kernel's blessed issue slots: per
// matrix instruction, per KiB of global memory, or in total.
double issued(const count::Launch& launch, double matrix_instructions, double slots) {
  constexpr double kKiB = 1024;
  if (std::isnan(slots)) return 0;
  if (matrix_instructions > 0) return slots * matrix_instructions;
  double bytes = 0;
  for (const count::Site& site : launch.sites)
    if (site.memory == count::Memory::global)
      bytes += model::kLanes * site.width * static_cast<double>(site.requests);
  const double warps = std::ceil(product(launch.block) / model::kLanes) * product(launch.grid);
  return slots * (bytes > 0 ? bytes / kKiB : warps);
}

// A request occupies the load/store units at least as long as its addresses do.
double passes(const count::Site& site, const model::Gpu& gpu) {
  const double clocks = model::kLanes / gpu.lsu_lanes;
  const double made = static_cast<double>(site.wavefronts + site.l1_passes);
  return std::max(made, clocks * static_cast<double>(site.requests));
}

std::string time(double seconds) { return fmt::format("{:.3g} us", 1e6 * seconds); }

} // namespace

model::Costs costs_of(const count::Launch& launch, double resident_blocks, double issue_slots,
                      const model::Gpu& gpu) {
  model::Costs costs;
  costs.blocks = product(launch.grid);
  costs.resident_blocks = resident_blocks;
  costs.round_trips = static_cast<double>(launch.round_trips) / costs.blocks;
  costs.block_read_bytes = model::kSectorBytes * static_cast<double>(launch.block_read);
  costs.read_bytes = model::kSectorBytes * static_cast<double>(launch.unique_read);
  costs.written_bytes = model::kSectorBytes * static_cast<double>(launch.unique_written);
  costs.unique_sectors = static_cast<double>(launch.unique_read + launch.unique_written);
  costs.sectors = static_cast<double>(launch.block_read);
  for (const count::Site& site : launch.sites) {
    if (site.access == count::Access::load)
      costs.load_bytes += model::kSectorBytes * static_cast<double>(site.sectors);
    else
      costs.sectors += static_cast<double>(site.sectors);
    costs.wavefronts += passes(site, gpu);
  }
  double matrix_instructions = 0;
  for (const auto& [name, count] : launch.collectives) {
    if (const MatrixInstruction* const instruction = matrix_instruction(name)) {
      matrix_instructions += static_cast<double>(count);
      costs.matrix_flops[std::string(instruction->type)] +=
          static_cast<double>(count) * instruction->flops;
    }
  }
  for (const auto& [name, count] : launch.wgmma) {
    const WarpgroupInstruction instruction = warpgroup_instruction(name);
    matrix_instructions += static_cast<double>(count);
    costs.wgmma_flops[instruction.type] += static_cast<double>(count) * instruction.flops;
  }
  costs.issue_clocks = issued(launch, matrix_instructions, issue_slots);
  return costs;
}

Taken taken_of(const judge::ExactRow& row) {
  constexpr std::size_t kRegisters = 0, kStaticShared = 3, kIssueSlots = 10; // order of the table
  return {static_cast<int>(row.values.at(kRegisters)),
          static_cast<int>(row.values.at(kStaticShared)), row.values.at(kIssueSlots)};
}

std::vector<ModelledLaunch> modelled(const std::vector<count::Launch>& launches, const Work& work,
                                     const model::Gpu& gpu, const TakenByKernel& taken) {
  const resources::SmLimits& limits = resources::sm_limits(model::arch_of(gpu));
  std::vector<ModelledLaunch> all;
  for (const count::Launch& launch : launches) {
    ModelledLaunch one;
    one.kernel = launch.kernel;
    one.takes.threads = static_cast<int>(product(launch.block));
    one.takes.shared_bytes = static_cast<int>(launch.shared_bytes);
    double issue_slots = std::numeric_limits<double>::quiet_NaN();
    if (const auto known = taken.find(launch.kernel); known != taken.end()) {
      issue_slots = known->second.issue_slots;
      one.compiled = true;
      one.takes.registers = known->second.registers;
      one.takes.shared_bytes += known->second.static_shared;
    }
    const int resident = resources::resident_blocks(one.takes, limits);
    one.fits = resident > 0;
    if (one.fits) {
      one.costs = costs_of(launch, resident, issue_slots, gpu);
      if (launches.size() == 1 && one.costs.matrix_flops.empty() && one.costs.wgmma_flops.empty())
        one.costs.f32_flops = work.flops;
      one.modelled = model::modelled(one.costs, gpu);
    }
    all.push_back(std::move(one));
  }
  return all;
}

std::string modelled_text(const std::vector<count::Launch>& launches, const Work& work,
                          const model::Gpu& gpu, const TakenByKernel& taken) {
  judge::TextTable table({"kernel", "at least", "limited by", "share of roof", "occupancy from"});
  double seconds = 0;
  bool fit = true;
  for (const ModelledLaunch& one : modelled(launches, work, gpu, taken)) {
    const char* from = one.compiled ? "registers, threads and shared memory"
                                    : "threads and dynamic shared memory alone";
    seconds += one.modelled.seconds;
    fit = fit && one.fits;
    if (one.fits)
      table.add({one.kernel, time(one.modelled.seconds),
                 std::string(model::name(one.modelled.limiter)),
                 fmt::format("{:.0f} %", 100 * one.modelled.share_of_roof), from});
    else
      table.add({one.kernel, "-", "does not fit", "-", from});
  }
  std::string text = table.plain();
  if (launches.size() < 2) return text;
  if (fit) text += fmt::format("{} launches: at least {}\n", launches.size(), time(seconds));
  if (work.flops > 0) text += "arithmetic is left out: how the launches share it is not known\n";
  return text;
}

} // namespace kg::cost
