// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/cost_unchanged.h"

#include "perf/cli/commands.h"
#include "perf/cli/cost_bound.h"
#include "perf/cli/counted.h"
#include "perf/cli/measure_rows.h"
#include "perf/code/cost/sources.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <ostream>
#include <set>
#include <utility>

namespace kg::cli {
namespace {

using CaseAndVariant = std::pair<std::string, std::string>;

CaseAndVariant case_and_variant(const judge::ExactRow& row) { return {row.key[0], row.key[1]}; }

std::map<std::string, std::set<CaseAndVariant>> rows_by_op(const std::vector<const Row*>& rows) {
  std::map<std::string, std::set<CaseAndVariant>> ops;
  for (const Row* row : rows) {
    const judge::Registered& about = row->registered;
    ops[about.op].emplace(about.key.case_id, about.key.variant);
  }
  return ops;
}

cost::Blessed blessed_of(const std::string& op, const Options& options) {
  return {judge::load_exact(judge::cost_table(), cost_file(options, op)),
          judge::load_exact(judge::resource_table(), resource_file(options, kBoundResources))};
}

// Why the op must be counted; empty if its blessed costs still hold.
std::string why_counted(const std::string& op, const std::set<CaseAndVariant>& rows,
                        const judge::SourcesFile& sources, const cost::Blessed& blessed,
                        const World& world) {
  const std::string changed =
      cost::why_changed(sources, blessed, world.source, op, world.counted_by);
  if (!changed.empty()) return changed;
  std::set<CaseAndVariant> missing = rows;
  for (const judge::ExactRow& row : blessed.costs.rows) missing.erase(case_and_variant(row));
  if (missing.empty()) return "";
  const auto& [case_id, variant] = *missing.begin();
  return fmt::format("{} has no row of {} {}", blessed.costs.path, case_id, variant);
}

} // namespace

bool needs_no_counts(const Options& options, const World& world) {
  if (options.command != "gate" || world.counted_by.compiler.empty()) return false;
  return options.changed || !std::filesystem::exists(counting_program(world));
}

judge::ExactRows unchanged_costs(const std::vector<const Row*>& rows, const Options& options,
                                 World& world) {
  const judge::SourcesFile sources = judge::load_sources(counted_file(options));
  judge::ExactRows all;
  for (const auto& [op, wanted] : rows_by_op(rows)) {
    const cost::Blessed blessed = blessed_of(op, options);
    if (const std::string why = why_counted(op, wanted, sources, blessed, world); !why.empty())
      throw Error(fmt::format("no {}, and op {} must be counted: {}; build the target "
                              "kernelgrade-cost",
                              counting_program(world).string(), op, why));
    const std::string why = cost::why_unchanged(sources.ops.at(op));
    world.out << fmt::format("{}: {}\n", op, why);
    for (judge::ExactMeasured& row : cost::blessed_costs(blessed.costs, why))
      if (wanted.contains(case_and_variant(row.row))) all.push_back(std::move(row));
  }
  return all;
}

int name_changed_costs(const std::vector<const Row*>& rows, const Options& options, World& world) {
  const judge::SourcesFile sources = judge::load_sources(counted_file(options));
  int exit_code = judge::kExitPass;
  for (const auto& [op, wanted] : rows_by_op(rows)) {
    const std::string why = why_counted(op, wanted, sources, blessed_of(op, options), world);
    if (why.empty()) continue;
    world.err << fmt::format("{}: {}\n", op, why);
    world.out << op << "\n";
    exit_code = judge::kExitSkip;
  }
  return exit_code;
}

void require_built(const std::string& op, const World& world) {
  if (world.counted_by.compiler.empty()) return; // sources will not be recorded
  const auto built = std::filesystem::last_write_time(world.executable);
  for (const auto& [name, text] : cost::deciding_files(world.source, op))
    require(std::filesystem::last_write_time(world.source / name) <= built,
            fmt::format("{} is older than {}; build it: cmake --build {} --target kernelgrade-cost",
                        world.executable.string(), (world.source / name).string(),
                        world.build.string()));
}

void bless_sources_of(const std::string& op, const judge::ExactBlessPlan& plan,
                      const judge::ExactRows& counted, const Options& options, World& world) {
  if (world.counted_by.compiler.empty() || !plan.faults.empty()) return;
  std::set<std::vector<std::string>> uncounted;
  for (const judge::ExactRow& row : plan.rows) uncounted.insert(row.key);
  for (const judge::ExactMeasured& row : counted) uncounted.erase(row.row.key);
  for (const judge::ExactBlessEntry& entry : plan.entries)
    if (entry.action == judge::BlessAction::refused) uncounted.insert(entry.key);
  if (!uncounted.empty()) {
    world.out << fmt::format("{}: not all of its rows were counted and blessed, so that ./grade "
                             "will count it\n",
                             op);
    return;
  }
  judge::SourcesFile file = judge::load_sources(counted_file(options));
  if (!file.problem.empty()) throw Error(file.problem);
  const auto before = file.ops;
  judge::bless_sources(file, op,
                       {world.counted_by.compiler,
                        source_of(options, world),
                        cost::hash_sources(cost::deciding_files(world.source, op),
                                           world.counted_by.flags, blessed_of(op, options)),
                        {}});
  world.out << judge::drop_removed(file, world.source / "kernels/ops");
  if (file.ops == before) return;
  judge::save_sources(file);
  world.out << fmt::format("wrote {}\n", file.path.string());
}

} // namespace kg::cli
