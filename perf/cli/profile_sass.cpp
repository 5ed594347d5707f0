// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade profile --sass: ptxas' machine code for the selected rows' kernels, without a GPU.
#include "perf/cli/cost_model.h"
#include "perf/cli/lab_commands.h"
#include "perf/cli/launches.h"
#include "perf/cli/selection.h"
#include "perf/code/sass/nvdisasm.h"
#include "perf/code/sass/table.h"
#include "perf/judge/gate.h"
#include "runtime/atomic_file.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

namespace kg::cli {
namespace {

int skip(const Options& options, World& world, const std::string& why) {
  world.out << "skipped: " << why << "\n";
  return options.strict ? judge::kExitFail : judge::kExitSkip;
}

const kg::resources::Compiled* of_arch(const std::vector<kg::resources::Compiled>& all,
                                       const std::string& arch) {
  for (const kg::resources::Compiled& one : all)
    if (one.arch() == arch) return &one;
  return nullptr;
}

// If the filters select within an op: only the kernels that the selected rows launch.
std::vector<sass::Kernel> chosen(std::vector<sass::Kernel> kernels,
                                 const kg::resources::Launches& launches, bool partial) {
  if (partial)
    std::erase_if(kernels, [&](const sass::Kernel& one) { return launches.count(one.name) == 0; });
  return kernels;
}

bool has_unknown(const std::vector<sass::Judged>& kernels) {
  return std::any_of(kernels.begin(), kernels.end(),
                     [](const sass::Judged& one) { return !one.kernel.analysis.unknown.empty(); });
}

std::string closing(const std::vector<sass::Judged>& kernels, const std::string& arch,
                    const model::Gpu* gpu) {
  std::map<std::string, int> unknown;
  for (const sass::Judged& one : kernels)
    for (const auto& [opcode, count] : one.kernel.analysis.unknown) unknown[opcode] += count;
  std::string text = fmt::format(
      "\n{} kernels of {}; bounds and modelled expectations, nothing measured: {}\n",
      kernels.size(), arch,
      gpu != nullptr ? fmt::format("{}, copy {:.2f} TB/s", gpu->name, gpu->copy_bytes_per_s / 1e12)
                     : "no known GPU has it, so % of copy bandwidth is left out; --gpu names one");
  for (const auto& [opcode, count] : unknown)
    text += fmt::format("unknown opcode {}: {} times; add it to perf/code/sass/pipes.cpp\n", opcode,
                        count);
  return text;
}

// The GPU named by --gpu, else the first of the architecture ("sm_90a": 9.0).
std::optional<model::Gpu> gpu_of(const Options& options, const World& world) {
  if (!options.profile.gpu.empty()) return modelled_gpu(world, options.profile.gpu);
  for (model::Gpu& gpu : model::load_gpus(world.source / "perf/code/timing_model/gpus.json"))
    if (options.arch.starts_with(model::arch_of(gpu))) return std::move(gpu);
  return std::nullopt;
}

} // namespace

int profile_sass(const Options& options, World& world) {
  if constexpr (backend == Backend::cuda)
    throw UsageError("profile --sass: the emulator tells how kernels are launched; use the preset "
                     "host");
  const Selection selection = select(world, options.filters);
  if (selection.selected == 0) throw Error(nothing_selected(world));
  const std::filesystem::path folder = compiled_kernels(options, world);
  const std::filesystem::path nvdisasm = sass::find_nvdisasm();
  if (nvdisasm.empty()) return skip(options, world, sass::nvdisasm_missing());
  const std::vector<kg::resources::Compiled> all = kg::resources::compiled_in(folder);
  if (all.empty())
    return skip(options, world,
                fmt::format("{} holds no compiled kernels: there was no nvcc when the build was "
                            "configured; install the CUDA toolkit and configure again",
                            folder.string()));
  const kg::resources::Compiled* const compiled = of_arch(all, options.arch);
  if (compiled == nullptr)
    throw Error(fmt::format("--arch {}: {} has no kernels compiled for it; configure with "
                            "-DKERNELGRADE_RESOURCE_ARCHS={}, and build the target fatbins",
                            options.arch, folder.string(), options.arch));

  const std::optional<model::Gpu> known_gpu = gpu_of(options, world);
  const model::Gpu* const gpu = known_gpu ? &*known_gpu : nullptr;
  const sass::Rates rates = gpu ? sass::rates_of(*gpu) : sass::Rates();
  const bool partial = selection.partial;
  const auto launches =
      launches_of(selection, [&](const Row& row) { return !partial || row.registered.selected; });
  std::vector<sass::Kernel> kernels;
  for (const std::string& op : selection.ops) {
    const std::filesystem::path of_op = compiled->folder / op;
    if (!std::filesystem::is_directory(of_op))
      throw Error(fmt::format("{}: op {} was not compiled for {}; build the target fatbins",
                              of_op.string(), op, options.arch));
    const auto at = launches.find(op);
    const auto known = at == launches.end() ? kg::resources::Launches() : at->second;
    auto found =
        chosen(sass::kernels_in(of_op, options.arch, op, known, nvdisasm, rates), known, partial);
    std::move(found.begin(), found.end(), std::back_inserter(kernels));
  }
  const std::vector<sass::Judged> judged = sass::judged(std::move(kernels), gpu);
  if (judged.empty())
    throw Error("profile --sass: the selected rows launch no compiled kernel; "
                "build the target fatbins");
  if (!options.quiet) world.out << sass::plain_text(judged) << closing(judged, compiled->name, gpu);
  if (!options.json.empty()) write_file(options.json, sass::json(judged).dump(1) + "\n");
  // Instructions without a known pipe are missing in every bound.
  return has_unknown(judged) ? judge::kExitFail : judge::kExitPass;
}

} // namespace kg::cli
