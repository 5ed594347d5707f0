// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade profile --cost, gate --cost, bless --cost: the kernels' costs on a GPU, counted on
// the executor. Counted kernels are compiled differently from timed ones, so a separate program
// next to kernelgrade has them: kernelgrade-cost, these commands with counters. If it was not
// built, the gate takes unchanged costs as blessed (cost_unchanged.h).
#include "perf/cli/baselines.h"
#include "perf/cli/commands.h"
#include "perf/cli/cost_bound.h"
#include "perf/cli/cost_compiled.h"
#include "perf/cli/cost_minimum.h"
#include "perf/cli/cost_model.h"
#include "perf/cli/cost_unchanged.h"
#include "perf/cli/counted.h"
#include "perf/cli/exec_program.h"
#include "perf/cli/measure_rows.h"
#include "perf/cli/selection.h"
#include "perf/cli/shard.h"
#include "perf/code/cost/profile.h"
#include "perf/judge/exact_bless.h"
#include "perf/judge/exact_gate.h"
#include "perf/measure/environment.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <ostream>
#include <set>
#include <tuple>

namespace kg::cli {
namespace {

constexpr const char* kCountingProgram = "kernelgrade-cost";

judge::ExactRows count_rows(const std::vector<const Row*>& rows, const Options& options,
                            World& world) {
  const CostFigures figures(options, world);
  judge::ExactRows counted;
  for (const Row* row : rows) {
    const judge::Registered& about = row->registered;
    for (const cost::Metric& metric : figures.of(*row, count_launches(*row, world))) {
      judge::ExactMeasured measured;
      measured.row.key = {about.key.case_id, about.key.variant, metric.name};
      measured.row.values = {metric.value, metric.minimum};
      if (metric.of_compiler) {
        measured.row.counter_id = world.counter_id;
        measured.gating = judge::Gating::same_counter;
      }
      if (metric.informs) measured.gating = judge::Gating::never;
      measured.site = metric.site;
      measured.hint = metric.hint;
      measured.fault = metric.fault;
      counted.push_back(std::move(measured));
    }
  }
  return counted;
}

// A single shape does not show how a cost scales.
std::vector<std::string> variants_with_one_shape(const std::vector<const Row*>& rows) {
  std::map<std::tuple<std::string, std::string, std::string>, std::set<std::string>> cases;
  for (const Row* row : rows) {
    const judge::Registered& about = row->registered;
    cases[{about.op, about.dtype, about.key.variant}].insert(about.key.case_id);
  }
  std::vector<std::string> faults;
  for (const auto& [variant, ids] : cases) {
    if (ids.size() < 2)
      faults.push_back(
          fmt::format("{0} {1} {2}: it has costs for one shape only; list a second one "
                      "that it supports in tests/ops/{0}/{0}_card.cu (timed_on_host)",
                      std::get<0>(variant), std::get<1>(variant), std::get<2>(variant)));
  }
  return faults;
}

} // namespace

int profile_costs(const Options& options, World& world) {
  if (options.profile.minimum) return profile_minima(options, world);
  if (!options.compiled.empty()) return profile_compiled(options, world);
  const Selection selection = select(world, options.filters);
  const CostFigures figures(options, world, options.profile.gpu);
  for (const Row* row : countable(world, selection)) {
    const std::vector<count::Launch> launches = count_launches(*row, world);
    world.out << row->registered.key.case_id << " " << row->registered.key.variant << "\n"
              << cost::profile_text(launches, row->work)
              << fmt::format("{:.6g} floating-point operations, by the operation's definition\n\n",
                             row->work.flops)
              << figures.bound_text(*row, launches) << "\n";
  }
  return judge::kExitPass;
}

int gate_costs(const Options& options, World& world) {
  Selection selection = select(world, options.filters);
  require_listed(selection);
  if (options.changed) return name_changed_costs(countable(world, selection), options, world);
  // Over all shards, since a variant's shapes may be in several.
  const std::vector<std::string> one_shape =
      selection.partial ? std::vector<std::string>()
                        : variants_with_one_shape(countable(world, selection));
  judge::Results run;
  run.shard = divide(options, selection, "costs");
  run.environment = counted_environment(options, world);
  const std::vector<const Row*> rows = countable(world, selection);
  run.costs = world.take_launches ? count_rows(rows, options, world)
                                  : unchanged_costs(rows, options, world);
  if (!options.json.empty()) judge::save_results(options.json, run);
  const bool partial = selection.partial || run.shard;
  std::vector<int> exits;
  for (const auto& [op, measured] : by_op(run.costs)) {
    const judge::ExactResult result = judge_costs(options, op, measured, partial);
    exits.push_back(result.exit_code);
    world.out << judge::plain_text(result);
  }
  for (const std::string& fault : one_shape) {
    exits.push_back(judge::kExitFail);
    world.out << fault << "\n";
  }
  return judge::combined_exit(exits, options.strict);
}

int bless_costs(const Options& options, World& world) {
  perf::require_clean(source_of(options, world));
  const Selection selection = select(world, options.filters);
  require_listed(selection);
  const std::vector<const Row*> rows = countable(world, selection);
  judge::ExactBlessOptions how;
  how.why = options.bless.why;
  how.remove_orphans = options.bless.remove_orphans;
  for (const std::string& op : selection.ops) require_built(op, world);
  int exit_code = judge::kExitPass;
  for (const auto& [op, measured] : by_op(count_rows(rows, options, world))) {
    const std::filesystem::path path = cost_file(options, op);
    const judge::ExactBlessPlan plan = judge::plan_exact_bless(
        judge::cost_table(), measured, judge::load_exact(judge::cost_table(), path),
        cost_covers(measured, selection.partial), how);
    judge::carry_out(judge::cost_table(), plan, path);
    exit_code = std::max(exit_code, plan.exit_code());
    world.out << judge::text(plan);
    if (plan.changes()) world.out << fmt::format("wrote {}\n", path.string());
    bless_sources_of(op, plan, measured, options, world);
  }
  return exit_code;
}

std::filesystem::path counting_program(const World& world) {
  return world.executable.parent_path() / kCountingProgram;
}

int run_counting_program(const std::vector<std::string>& arguments, const World& world) {
  exec_program(world, kCountingProgram, arguments,
               "costs are counted by the CPU emulator's build with g++ (cmake --preset host)");
}

} // namespace kg::cli
