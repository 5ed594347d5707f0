// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade profile --counts COUNTS --cubin CUBIN: time bounds of an nvcc-built program's
// launches, from the executor's counts and its machine code. Needs no GPU and no operation of ours.
#include "perf/cli/cost_model.h"
#include "perf/cli/lab_commands.h"
#include "perf/code/cost/stored_counts.h"
#include "perf/code/identity/cubin.h"
#include "perf/code/resources/occupancy.h"
#include "perf/code/sass/analysis.h"
#include "perf/code/sass/nvdisasm.h"
#include "perf/code/sass/trips.h"
#include "perf/format/table.h"
#include "perf/judge/gate.h"
#include "runtime/atomic_file.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <ostream>

namespace kg::cli {
namespace {

struct MachineCode {
  identity::CubinKernel kernel;
  sass::Function function;
  sass::Analysis analysis;
};

// Bytes in flight per thread in the part that loads most, assuming eight iterations per level of
// nesting; 0 if no part loads.
double bytes_in_flight(const sass::Analysis& analysis) {
  constexpr double kPasses = 8;
  double most = 0, found = 0;
  for (const sass::Part& part : analysis.parts) {
    const double loaded = part.global.loaded * std::pow(kPasses, part.depth);
    if (loaded <= most) continue;
    most = loaded;
    found = part.flight.bytes_in_flight();
  }
  return found;
}

double blocks_of(const count::Launch& launch) {
  return static_cast<double>(launch.grid[0]) * launch.grid[1] * launch.grid[2];
}

int threads_of(const count::Launch& launch) {
  return static_cast<int>(launch.block[0] * launch.block[1] * launch.block[2]);
}

// Per block. The executor sees neither which loads of a thread wait for one another in registers,
// nor which ones ptxas moved before a store; the machine code shows both.
double round_trips(const count::Launch& launch, const MachineCode& code) {
  const double counted = static_cast<double>(launch.round_trips) / blocks_of(launch);
  double bytes = 0;
  for (const count::Site& site : launch.sites)
    if (site.memory == count::Memory::global && site.access == count::Access::load)
      bytes += model::kLanes * static_cast<double>(site.requests) * site.width;
  const double of_thread = bytes / blocks_of(launch) / threads_of(launch);
  const double under_way = bytes_in_flight(code.analysis);
  return under_way > 0 ? std::max(1.0, of_thread / under_way) : counted;
}

std::vector<MachineCode> code_of(const std::filesystem::path& cubin, const sass::Rates& rates,
                                 const std::filesystem::path& nvdisasm) {
  const std::string file = cubin.string();
  const auto contents = read_file(cubin);
  if (!contents) throw UsageError(file + ": no such cubin");
  const std::vector<sass::Function> functions =
      sass::read_listing(sass::disassemble(nvdisasm, *contents, file), file);
  std::vector<MachineCode> found;
  for (identity::CubinKernel& kernel : identity::read_cubin(*contents, file))
    for (const sass::Function& function : functions) {
      if (function.symbol != kernel.symbol) continue;
      std::vector<sass::Analysis> analysed = sass::analyse({function}, rates);
      if (!analysed.empty())
        found.push_back({std::move(kernel), function, std::move(analysed.front())});
      break;
    }
  return found;
}

const MachineCode& code_of(const count::Launch& launch, const std::vector<MachineCode>& codes,
                           const std::filesystem::path& cubin) {
  for (const MachineCode& code : codes)
    if (code.kernel.name == launch.kernel || code.kernel.symbol == launch.kernel) return code;
  throw Error(
      fmt::format("{}: it lacks the kernel {}, which {} blocks ran; compile the same source "
                  "with -cubin -lineinfo",
                  cubin.string(), launch.kernel, blocks_of(launch)));
}

nlohmann::json json(const count::Launch& launch, const model::Costs& costs,
                    const model::Modelled& bound) {
  const double blocks = costs.blocks;
  return {{"kernel", launch.kernel},
          {"blocks", blocks},
          {"threads", threads_of(launch)},
          {"resident_blocks", costs.resident_blocks},
          {"read_bytes", costs.read_bytes},
          {"written_bytes", costs.written_bytes},
          {"of_a_block",
           {{"round_trips", costs.round_trips},
            {"load_bytes", costs.load_bytes / blocks},
            {"block_read_bytes", costs.block_read_bytes / blocks},
            {"sectors", costs.sectors / blocks},
            {"passes", costs.wavefronts / blocks},
            {"issue_clocks", costs.issue_clocks / blocks}}},
          {"bound_us", 1e6 * bound.seconds},
          {"limiter", model::name(bound.limiter)}};
}

} // namespace

int profile_counts(const Options& options, World& world) {
  if (options.profile.cubin.empty())
    throw UsageError("profile --counts: --cubin names the program's kernels, compiled for the GPU");
  const std::filesystem::path nvdisasm = sass::find_nvdisasm();
  if (nvdisasm.empty()) {
    world.out << "skipped: " << sass::nvdisasm_missing() << "\n";
    return options.strict ? judge::kExitFail : judge::kExitSkip;
  }
  const model::Gpu gpu = modelled_gpu(world, options.profile.gpu);
  const sass::Rates rates = sass::rates_of(gpu);
  const resources::SmLimits& limits = resources::sm_limits(model::arch_of(gpu));
  const std::vector<MachineCode> codes = code_of(options.profile.cubin, rates, nvdisasm);
  judge::TextTable table(
      {"kernel", "blocks", "threads", "resident", "round trips", "lower bound", "limited by"});
  nlohmann::json all = nlohmann::json::array();
  for (const count::Launch& counted : cost::load_counts(options.profile.counts)) {
    const MachineCode& code = code_of(counted, codes, options.profile.cubin);
    const count::Launch launch = sass::as_compiled(counted, code.function);
    const int resident = resources::resident_blocks(
        {code.kernel.registers, code.kernel.static_shared + static_cast<int>(launch.shared_bytes),
         threads_of(launch)},
        limits);
    if (resident == 0)
      throw Error(fmt::format("{}: its block does not fit a multiprocessor of {}", launch.kernel,
                              gpu.name));
    model::Costs costs =
        cost::costs_of(launch, resident, std::numeric_limits<double>::quiet_NaN(), gpu);
    costs.round_trips = round_trips(launch, code);
    costs.issue_clocks = sass::executed(code.function, launch, rates).issue_clocks();
    const model::Modelled bound = model::modelled(costs, gpu);
    table.add({launch.kernel, fmt::format("{}", costs.blocks), std::to_string(threads_of(launch)),
               std::to_string(resident), fmt::format("{:.3g}", costs.round_trips),
               fmt::format("{:.4g} us", 1e6 * bound.seconds),
               std::string(model::name(bound.limiter))});
    all.push_back(json(launch, costs, bound));
  }
  if (!options.quiet)
    world.out << fmt::format("bounds, not measured: {}\n{}", gpu.name, table.plain());
  if (!options.json.empty()) write_file(options.json, all.dump(1) + "\n");
  return judge::kExitPass;
}

} // namespace kg::cli
