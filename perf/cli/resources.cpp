// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade resources: what the compiled kernels take, against baselines/resources/. Needs nvcc
// when the build is made, and no GPU.
#include "perf/resources/compiled.h"

#include "perf/cli/commands.h"
#include "perf/cli/cost_model.h"
#include "perf/cli/counted.h"
#include "perf/cli/launches.h"
#include "perf/cli/measure_rows.h"
#include "perf/cli/selection.h"
#include "perf/judge/exact_bless.h"
#include "perf/sass/columns.h"
#include "perf/sass/nvdisasm.h"

#include <fmt/format.h>
#include <map>
#include <ostream>

namespace kg::cli {
namespace {

// Without nvdisasm what machine code has is not known.
std::vector<judge::ExactMeasured> rows_of(const kg::resources::Compiled& compiled,
                                          const std::string& op,
                                          const resources::Launches& launches,
                                          const std::filesystem::path& source,
                                          const std::filesystem::path& nvdisasm) {
  const std::filesystem::path folder = compiled.folder / op;
  if (!std::filesystem::is_directory(folder))
    throw Error(fmt::format("{}: op {} was not compiled for {}; build the target fatbins",
                            folder.string(), op, compiled.arch()));
  std::vector<judge::ExactMeasured> rows =
      resources::compiled_resources(folder, compiled.arch(), op, launches, source / "kernels" / op);
  if (!nvdisasm.empty()) sass::fill_columns(rows, folder, compiled.arch(), op, launches, nvdisasm);
  return rows;
}

int skip(const Options& options, World& world, const std::filesystem::path& folder) {
  world.out << fmt::format(
      "skipped: {} holds no compiled kernels: there was no nvcc when the build "
      "was configured; install the CUDA toolkit and configure again\n",
      folder.string());
  return options.strict ? judge::kExitFail : judge::kExitSkip;
}

// The columns that nothing could read.
int skip_columns(const Options& options, World& world) {
  std::string names;
  for (const judge::Quantity& quantity : judge::resource_table().quantities)
    if (quantity.optional) names += fmt::format("{}{}", names.empty() ? "" : ", ", quantity.name);
  world.out << fmt::format("skipped: {}: {}\n", names, sass::nvdisasm_missing());
  return options.strict ? judge::kExitFail : judge::kExitPass;
}

int bless_rows(const Options& options, World& world, const std::string& name,
               const judge::ExactRows& rows, const std::set<std::string>& ops) {
  const judge::ExactFile file =
      judge::load_exact(judge::resource_table(), resource_file(options, name));
  const judge::ExactBlessPlan plan = judge::plan_exact_bless(
      judge::resource_table(), rows, file, resource_covers(ops),
      {options.bless.why, is_dirty(source_of(options, world)), options.bless.remove_orphans});
  judge::carry_out(judge::resource_table(), plan, file.path);
  world.out << file.path << (plan.changes() ? ", written:\n" : ", as it was:\n")
            << judge::text(plan);
  return plan.exit_code();
}

} // namespace

int resources(const Options& options, World& world) {
  if constexpr (backend == Backend::cuda)
    throw UsageError("resources: the executor tells how kernels are launched; use the preset host");
  const Selection selection = select(world, options.filters);
  const std::filesystem::path folder = compiled_kernels(options, world);
  const std::vector<kg::resources::Compiled> all = kg::resources::compiled_in(folder);
  if (all.empty()) return skip(options, world, folder);

  const std::filesystem::path nvdisasm = sass::find_nvdisasm();
  if (options.bless.resources && nvdisasm.empty()) throw Error(sass::nvdisasm_missing());
  const auto launches = launches_of(selection, [](const Row&) { return true; });
  judge::Results run;
  run.environment = counted_environment(options, world);
  std::vector<int> exits;
  for (const kg::resources::Compiled& compiled : all) {
    judge::ExactRows& rows = run.resources[compiled.name];
    for (const std::string& op : selection.ops) {
      const auto known = launches.find(op);
      const auto found =
          rows_of(compiled, op, known == launches.end() ? kg::resources::Launches() : known->second,
                  world.source, nvdisasm);
      rows.insert(rows.end(), found.begin(), found.end());
    }
    if (options.bless.resources) {
      exits.push_back(bless_rows(options, world, compiled.name, rows, selection.ops));
      continue;
    }
    const judge::ExactResult result = judge_resources(options, compiled.name, rows, selection.ops);
    world.out << compiled.name << ": " << judge::plain_text(result);
    exits.push_back(result.exit_code);
  }
  if (nvdisasm.empty()) exits.push_back(skip_columns(options, world));
  if (!options.json.empty()) judge::save_results(options.json, run);
  return judge::combined_exit(exits, options.strict);
}

} // namespace kg::cli
