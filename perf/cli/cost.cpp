// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade profile --cost, gate --cost, bless --cost: what kernels ask of a GPU, counted on the
// executor. Counted kernels are compiled otherwise than timed ones, so another program holds them:
// kernelgrade-cost, which lies beside kernelgrade and is these commands with counters.
#include "perf/cli/baselines.h"
#include "perf/cli/commands.h"
#include "perf/cli/cost_model.h"
#include "perf/cli/measure_rows.h"
#include "perf/cli/selection.h"
#include "perf/cost/metrics.h"
#include "perf/cost/profile.h"
#include "perf/judge/exact_bless.h"
#include "perf/judge/exact_gate.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <ostream>
#include <set>
#include <tuple>
#include <unistd.h>

namespace kg::cli {
namespace {

using RowsByOp = std::map<std::string, std::vector<judge::ExactMeasured>>;

RowsByOp count_rows(const std::vector<const Row*>& rows, World& world) {
  RowsByOp by_op;
  for (const Row* row : rows) {
    const judge::Registered& about = row->registered;
    for (const cost::Metric& metric : cost::metrics(count_launches(*row, world), row->work)) {
      judge::ExactMeasured measured;
      measured.row.key = {about.key.case_id, about.key.variant, metric.name};
      measured.row.values = {metric.value, metric.minimum};
      if (metric.of_compiler) {
        measured.row.counter_id = world.counter_id;
        measured.gating = judge::Gating::same_counter;
      }
      measured.site = metric.site;
      measured.hint = metric.hint;
      by_op[about.op].push_back(std::move(measured));
    }
  }
  return by_op;
}

std::filesystem::path file_of(const Options& options, const std::string& op) {
  return options.baselines / "simt" / (op + ".csv");
}

// The rows of a file that this run should have counted: all of its types, or, where it chose within
// them, those of the cases and variants that it counted.
judge::Covers covers(const Selection& selection, const std::vector<const Row*>& rows) {
  std::set<std::pair<std::string, std::string>> chosen; // op and dtype, or case and variant
  for (const Row* row : rows) {
    const judge::Registered& about = row->registered;
    chosen.insert(selection.partial ? std::pair(about.key.case_id, about.key.variant)
                                    : std::pair(about.op, about.dtype));
  }
  return [chosen, partial = selection.partial](const judge::ExactRow& row) {
    const std::string& id = row.key[0];
    return chosen.contains(
        partial ? std::pair(id, row.key[1])
                : std::pair(std::string(judge::op_of(id)), std::string(judge::dtype_of(id))));
  };
}

// One shape tells nothing of how a cost grows.
std::vector<std::string> variants_with_one_shape(const std::vector<const Row*>& rows) {
  std::map<std::tuple<std::string, std::string, std::string>, std::set<std::string>> cases;
  for (const Row* row : rows) {
    const judge::Registered& about = row->registered;
    cases[{about.op, about.dtype, about.key.variant}].insert(about.key.case_id);
  }
  std::vector<std::string> faults;
  for (const auto& [variant, ids] : cases) {
    if (ids.size() < 2)
      faults.push_back(fmt::format("{} {} {}: it has costs for one shape only; list a second one "
                                   "that it supports in perf/{}_perf.cu",
                                   std::get<0>(variant), std::get<1>(variant), std::get<2>(variant),
                                   std::get<0>(variant)));
  }
  return faults;
}

} // namespace

int profile_costs(const Options& options, World& world) {
  const Selection selection = select(world, options.filters);
  const CostModel model(world, options.gpu);
  for (const Row* row : countable(world, selection)) {
    const std::vector<count::Launch> launches = count_launches(*row, world);
    world.out << row->registered.key.case_id << " " << row->registered.key.variant << "\n"
              << cost::profile_text(launches, row->work)
              << fmt::format("{:.6g} floating-point operations, by the operation's definition\n\n",
                             row->work.flops)
              << model.text(*row, launches) << "\n";
  }
  return judge::kExitPass;
}

int gate_costs(const Options& options, World& world) {
  const Selection selection = select(world, options.filters);
  require_listed(selection);
  const std::vector<const Row*> rows = countable(world, selection);
  const judge::ExactOptions how{options.strict, "kernelgrade gate --cost",
                                "kernelgrade bless --cost"};
  std::vector<int> exits;
  for (const auto& [op, measured] : count_rows(rows, world)) {
    const judge::ExactFile baseline = judge::load_exact(judge::cost_table(), file_of(options, op));
    const judge::ExactResult result =
        judge::judge_exact(judge::cost_table(), measured, baseline, covers(selection, rows), how);
    exits.push_back(result.exit_code);
    world.out << judge::plain_text(result);
  }
  if (!selection.partial) {
    for (const std::string& fault : variants_with_one_shape(rows)) {
      exits.push_back(judge::kExitFail);
      world.out << fault << "\n";
    }
  }
  return judge::combined_exit(exits, options.strict);
}

int bless_costs(const Options& options, World& world) {
  const Selection selection = select(world, options.filters);
  require_listed(selection);
  const std::vector<const Row*> rows = countable(world, selection);
  judge::ExactBlessOptions how;
  how.why = options.why;
  how.dirty_tree = is_dirty(source_of(options, world));
  how.remove_orphans = options.remove_orphans;
  int exit_code = judge::kExitPass;
  for (const auto& [op, measured] : count_rows(rows, world)) {
    const std::filesystem::path path = file_of(options, op);
    const judge::ExactBlessPlan plan = judge::plan_exact_bless(
        judge::cost_table(), measured, judge::load_exact(judge::cost_table(), path),
        covers(selection, rows), how);
    judge::carry_out(judge::cost_table(), plan, path);
    exit_code = std::max(exit_code, plan.exit_code());
    world.out << judge::text(plan);
    if (plan.changes()) world.out << fmt::format("wrote {}\n", path.string());
  }
  return exit_code;
}

int run_counting_program(const std::vector<std::string>& arguments, const World& world) {
  std::string program = (world.executable.parent_path() / "kernelgrade-cost").string();
  if (!std::filesystem::exists(program))
    throw Error(fmt::format("--cost: there is no {}; costs are counted by the host backend's build "
                            "with g++ (cmake --preset host)",
                            program));
  std::vector<std::string> words = arguments;
  std::vector<char*> pointers = {program.data()};
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  world.out.flush();
  execv(program.c_str(), pointers.data());
  throw Error(fmt::format("{}: cannot be started: {}", program, std::strerror(errno)));
}

} // namespace kg::cli
