// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade resources: compares the compiled kernels' resources with baselines/resources/. Needs
// no GPU; the build needs nvcc for kernels that changed since they were blessed.
#include "perf/code/resources/blessed.h"

#include "perf/cli/commands.h"
#include "perf/cli/cost_model.h"
#include "perf/cli/counted.h"
#include "perf/cli/launches.h"
#include "perf/cli/measure_rows.h"
#include "perf/cli/selection.h"
#include "perf/code/resources/sources.h"
#include "perf/code/sass/columns.h"
#include "perf/code/sass/nvdisasm.h"
#include "perf/format/named_path.h"
#include "perf/judge/exact_bless.h"
#include "perf/measure/environment.h"

#include <fmt/format.h>
#include <map>
#include <ostream>

namespace kg::cli {
namespace {

using kg::resources::Compiled;
using kg::resources::Launches;

// Shared by all operations and architectures of a call.
struct Here {
  kg::resources::Compiler compiler;
  std::filesystem::path source;   // the work tree
  std::filesystem::path nvdisasm; // empty: columns from machine code are unknown
  std::map<std::string, Launches> launches;

  std::filesystem::path kernels() const { return source / "kernels"; }
  Launches launches_of(const std::string& op) const {
    const auto known = launches.find(op);
    return known == launches.end() ? Launches() : known->second;
  }
};

// One architecture with one nvcc, and its baselines.
struct Target {
  Compiled compiled;
  judge::ExactFile blessed;
  judge::SourcesFile sources;

  std::string why_changed(const std::string& op, const Here& here) const {
    return kg::resources::why_changed(sources, blessed, here.kernels(), op, compiled.arch(),
                                      here.compiler);
  }
};

// The targets that the build compiles for. Without nvcc: those of the existing baselines.
std::vector<Target> targets_of(const Options& options, const std::filesystem::path& folder,
                               const Here& here) {
  std::vector<Compiled> all = kg::resources::compiled_in(folder);
  std::error_code none; // a missing folder has no baselines
  if (here.compiler.version.empty() && all.empty())
    for (const auto& file :
         std::filesystem::directory_iterator(sources_file(options, "any").parent_path(), none)) {
      const std::string name = file.path().stem().string();
      const Compiled compiled{judge::named_path(folder, "compiler", name), name};
      for (const std::string& arch : here.compiler.archs)
        if (compiled.arch() == arch) all.push_back(compiled);
    }
  std::vector<Target> targets;
  for (const Compiled& compiled : all)
    targets.push_back(
        {compiled,
         judge::load_exact(judge::resource_table(), resource_file(options, compiled.name)),
         judge::load_sources(sources_file(options, compiled.name))});
  return targets;
}

std::vector<judge::ExactMeasured> compiled_rows(const Target& target, const std::string& op,
                                                const Here& here) {
  const std::filesystem::path folder = target.compiled.folder / op;
  const std::string arch = target.compiled.arch();
  const Launches launches = here.launches_of(op);
  std::vector<judge::ExactMeasured> rows =
      kg::resources::compiled_resources(folder, arch, op, launches, here.kernels() / "ops" / op);
  if (!here.nvdisasm.empty()) sass::fill_columns(rows, folder, arch, op, launches, here.nvdisasm);
  return rows;
}

// Rows taken from the baselines, because nothing that affects them has changed.
std::vector<judge::ExactMeasured> blessed_rows(const Target& target, const std::string& op,
                                               const Here& here) {
  return kg::resources::blessed_resources(
      kg::resources::rows_of_op(target.blessed.rows, op), target.compiled.arch(), op,
      here.launches_of(op), here.kernels() / "ops" / op,
      kg::resources::why_unchanged(target.sources.ops.at(op), here.compiler));
}

Error not_compiled(const Target& target, const std::string& op, const std::string& why) {
  return Error(fmt::format("{}: op {} was not compiled for {}{}; build the target fatbins",
                           (target.compiled.folder / op).string(), op, target.compiled.arch(),
                           why.empty() ? "" : ", and must be: " + why));
}

int skip(const Options& options, World& world, const std::string& what) {
  world.out << fmt::format("skipped: {}: there was no nvcc when the build was configured; install "
                           "the CUDA toolkit and configure again\n",
                           what);
  return options.strict ? judge::kExitFail : judge::kExitSkip;
}

// The columns that could not be read.
int skip_columns(const Options& options, World& world) {
  std::string names;
  for (const judge::Quantity& quantity : judge::resource_table().quantities)
    if (quantity.optional) names += fmt::format("{}{}", names.empty() ? "" : ", ", quantity.name);
  world.out << fmt::format("skipped: {}: {}\n", names, sass::nvdisasm_missing());
  return options.strict ? judge::kExitFail : judge::kExitPass;
}

// By op, the files that nvcc read.
using FilesByOp = std::map<std::string, std::vector<std::string>>;

// With the rows, blesses the list of files that nvcc read: unchanged ops are not compiled again.
void bless_sources(const Options& options, World& world, const Target& target,
                   const std::vector<judge::ExactRow>& rows, const FilesByOp& files,
                   const Here& here) {
  judge::SourcesFile file = target.sources;
  for (const auto& [op, read] : files) {
    const auto hash =
        kg::resources::hash_sources(read, here.kernels(), op, target.compiled.arch(),
                                    here.compiler.flags, kg::resources::rows_of_op(rows, op));
    if (!hash) throw not_compiled(target, op, "not all of its sources were");
    judge::bless_sources(file, op, {here.compiler.version, source_of(options, world), *hash, read});
  }
  world.out << judge::drop_removed(file, here.kernels() / "ops");
  if (file.ops == target.sources.ops) return;
  judge::save_sources(file);
  world.out << file.path.string() << ", written\n";
}

int bless_rows(const Options& options, World& world, const Target& target,
               const judge::ExactRows& rows, const std::set<std::string>& ops, const Here& here) {
  perf::require_clean(source_of(options, world));
  if (!target.sources.problem.empty()) throw Error(target.sources.problem);
  FilesByOp files;
  for (const std::string& op : ops)
    files[op] = kg::resources::files_read(target.compiled.folder / op, target.compiled.build(),
                                          here.kernels());
  const judge::ExactBlessPlan plan =
      judge::plan_exact_bless(judge::resource_table(), rows, target.blessed, resource_covers(ops),
                              {options.bless.why, options.bless.remove_orphans});
  judge::carry_out(judge::resource_table(), plan, target.blessed.path);
  world.out << target.blessed.path << (plan.changes() ? ", written:\n" : ", as it was:\n")
            << judge::text(plan);
  if (!plan.faults.empty()) return plan.exit_code();
  for (const judge::ExactBlessEntry& entry : plan.entries)
    if (entry.action == judge::BlessAction::refused)
      files.erase(std::string(judge::op_of(entry.key.front())));
  bless_sources(options, world, target, plan.rows, files, here);
  return plan.exit_code();
}

// Writes each operation to standard output, and the reasons to standard error.
int name_changed(World& world, const std::vector<Target>& targets, const std::set<std::string>& ops,
                 const Here& here) {
  std::set<std::string> changed;
  for (const Target& target : targets)
    for (const std::string& op : ops)
      if (const std::string why = target.why_changed(op, here); !why.empty()) {
        world.err << fmt::format("{}: {}: {}\n", target.compiled.name, op, why);
        changed.insert(op);
      }
  for (const std::string& op : changed) world.out << op << "\n";
  return changed.empty() ? judge::kExitPass : judge::kExitSkip;
}

} // namespace

int resources(const Options& options, World& world) {
  if constexpr (backend == Backend::cuda)
    throw UsageError("resources: the emulator tells how kernels are launched; use the preset host");
  const Selection selection = select(world, options.filters);
  const std::filesystem::path folder = compiled_kernels(options, world);
  Here here{kg::resources::compiler_here(), world.source, {}, {}};
  const std::vector<Target> targets = targets_of(options, folder, here);
  if (targets.empty()) return skip(options, world, folder.string() + " holds no compiled kernels");
  if (options.changed) return name_changed(world, targets, selection.ops, here);

  here.nvdisasm = sass::find_nvdisasm();
  if (options.bless.resources && here.nvdisasm.empty()) throw Error(sass::nvdisasm_missing());
  here.launches = launches_of(selection, [](const Row&) { return true; });
  judge::Results run;
  run.environment = counted_environment(options, world);
  std::vector<int> exits;
  bool compiled = false; // at least one
  for (const Target& target : targets) {
    const std::string& name = target.compiled.name;
    judge::ExactRows rows;
    std::set<std::string> ops;
    for (const std::string& op : selection.ops) {
      std::vector<judge::ExactMeasured> found;
      if (kg::resources::is_compiled(target.compiled.folder / op)) {
        found = compiled_rows(target, op, here);
        compiled = true;
      } else if (const std::string why = target.why_changed(op, here);
                 why.empty() && !options.bless.resources) {
        found = blessed_rows(target, op, here);
        world.out << fmt::format("{}: {}: {}\n", name, op, found.front().as_blessed);
      } else if (!here.compiler.version.empty() || options.bless.resources) {
        throw not_compiled(target, op, why);
      } else {
        exits.push_back(skip(options, world, fmt::format("{}: {}", op, why)));
        continue;
      }
      ops.insert(op);
      rows.insert(rows.end(), found.begin(), found.end());
    }
    if (ops.empty()) continue;
    if (options.bless.resources) {
      exits.push_back(bless_rows(options, world, target, rows, ops, here));
      continue;
    }
    const judge::ExactResult result = judge_resources(options, name, rows, ops);
    world.out << name << ": " << judge::plain_text(result);
    exits.push_back(result.exit_code);
    run.resources[name] = std::move(rows);
  }
  if (compiled && here.nvdisasm.empty()) exits.push_back(skip_columns(options, world));
  if (!options.json.empty()) judge::save_results(options.json, run);
  return judge::combined_exit(exits, options.strict);
}

} // namespace kg::cli
