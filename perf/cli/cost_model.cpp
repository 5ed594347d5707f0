// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/cost_model.h"

#include "perf/code/cost/count_workload.h"
#include "perf/code/resources/compiled.h"

#include <algorithm>
#include <fmt/format.h>

namespace kg::cli {
// The selected rows with our own kernels: vendors' kernels are not compiled here.
std::vector<const Row*> countable(const World& world, const Selection& selection) {
  if (selection.selected == 0) throw Error(nothing_selected(world));
  std::vector<const Row*> rows;
  for (const Row& row : selection.rows)
    if (row.registered.selected && row.registered.kind == judge::Kind::ours) rows.push_back(&row);
  if (rows.empty())
    throw Error("no rows: a vendor's variants cannot be counted; choose others by --variant");
  return rows;
}

// One execution, without the launches that fill its data.
std::vector<count::Launch> count_launches(const Row& row, World& world) {
  return cost::count_workload(row.make(), world.take_launches, judge::text(row.registered.key));
}

std::filesystem::path compiled_kernels(const World& world) {
  return world.executable.parent_path().parent_path() / "resources";
}

std::filesystem::path compiled_kernels(const Options& options, const World& world) {
  if (options.compiled.empty()) return compiled_kernels(world);
  if (kg::resources::compiled_in(options.compiled).empty())
    throw UsageError(fmt::format("--compiled {}: it holds no compiled kernels; name a build's "
                                 "folder resources/, or leave the option out",
                                 options.compiled.string()));
  return options.compiled;
}

model::Gpu modelled_gpu(const World& world, const std::string& name) {
  const std::filesystem::path path = world.source / "perf/code/timing_model/gpus.json";
  const std::string wanted = name.empty() ? kModelledGpu : name;
  std::string known;
  for (model::Gpu& one : model::load_gpus(path)) {
    if (one.name == wanted) return std::move(one);
    known += " " + one.name;
  }
  throw UsageError(fmt::format("{} has no GPU '{}'; it has{}", path.string(), wanted, known));
}

CostModel::CostModel(const World& world, const std::string& gpu)
    : gpu_(modelled_gpu(world, gpu)), compiled_(compiled_kernels(world)) {}

// The resources of the launched kernels, as compiled for this GPU, if the build has them.
cost::TakenByKernel CostModel::taken(const Row& row,
                                     const std::vector<count::Launch>& launches) const {
  const std::string& op = row.registered.op;
  cost::TakenByKernel found;
  for (const resources::Compiled& compiled : resources::compiled_in(compiled_)) {
    // sm_90a includes sm_90.
    if (!compiled.arch().starts_with(model::arch_of(gpu_)) || !exists(compiled.folder / op))
      continue;
    const std::vector<judge::ExactMeasured> rows =
        resources::compiled_resources(compiled.folder / op, compiled.arch(), op, {}, {});
    for (const count::Launch& launch : launches) {
      const std::string key = resources::kernel_key(op, launch.kernel);
      const auto at = std::find_if(rows.begin(), rows.end(), [&](const judge::ExactMeasured& one) {
        return one.row.key.front() == key;
      });
      if (at == rows.end()) continue;
      found[launch.kernel] = cost::taken_of(at->row);
    }
  }
  return found;
}

std::optional<double> CostModel::seconds(const Row& row,
                                         const std::vector<count::Launch>& launches) const {
  double sum = 0;
  for (const cost::ModelledLaunch& one :
       cost::modelled(launches, row.work, gpu_, taken(row, launches))) {
    if (!one.fits) return std::nullopt;
    sum += one.modelled.seconds;
  }
  return sum;
}

} // namespace kg::cli
