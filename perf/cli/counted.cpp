// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/counted.h"

#include "perf/format/named_path.h"
#include "perf/judge/command.h"
#include "perf/judge/row.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <utility>
#include <vector>

namespace kg::cli {
namespace {

using judge::ExactMeasured;
using judge::ExactResult;
using judge::ExactRows;

// Adds a part's verdicts to the total.
void add(ExactResult& whole, ExactResult part, std::vector<int>& exits) {
  exits.push_back(part.exit_code);
  for (judge::ExactVerdict& row : part.rows) whole.rows.push_back(std::move(row));
  for (std::string& fault : part.faults) whole.faults.push_back(std::move(fault));
}

std::vector<std::string> without_costs(const Selection& selection, const ExactRows& costs) {
  using Counted = std::pair<std::string, std::string>; // case, variant
  std::set<Counted> seen;
  for (const ExactMeasured& row : costs) seen.emplace(row.row.key[0], row.row.key[1]);
  std::vector<std::string> faults;
  for (const Row& row : selection.rows) {
    const judge::Registered& about = row.registered;
    if (!about.selected || about.kind != judge::Kind::ours) continue;
    if (!seen.emplace(about.key.case_id, about.key.variant).second) continue; // one mode suffices
    faults.push_back(fmt::format(
        "{} {}: no file holds its costs; again: {}", about.key.case_id, about.key.variant,
        judge::command(
            fmt::format("gate --cost --op {} --dtype {} --json FILE", about.op, about.dtype))));
  }
  return faults;
}

std::vector<std::string> without_resources(const std::set<std::string>& ops,
                                           const ExactRows& rows) {
  std::set<std::string_view> seen;
  for (const ExactMeasured& row : rows) seen.insert(judge::op_of(row.row.key.front()));
  std::vector<std::string> faults;
  for (const std::string& op : ops)
    if (!seen.contains(op))
      faults.push_back(
          fmt::format("{}: no file holds its resources; again: {}", op,
                      judge::command(fmt::format("resources --op {} --json FILE", op))));
  return faults;
}

void add_faults(ExactResult& result, const std::vector<std::string>& faults) {
  result.faults.insert(result.faults.end(), faults.begin(), faults.end());
  if (!faults.empty()) result.exit_code = judge::kExitFail;
}

} // namespace

std::map<std::string, ExactRows> by_op(const ExactRows& costs) {
  std::map<std::string, ExactRows> ops;
  for (const ExactMeasured& row : costs)
    ops[std::string(judge::op_of(row.row.key.front()))].push_back(row);
  return ops;
}

std::filesystem::path cost_file(const Options& options, const std::string& op) {
  return judge::named_path(options.baselines / "simt", "operation", op, ".csv");
}

std::filesystem::path counted_file(const Options& options) {
  return options.baselines / "simt" / "sources" / "counted.csv";
}

std::filesystem::path resource_file(const Options& options, const std::string& name) {
  return judge::named_path(options.baselines / "resources", "compiler", name, ".csv");
}

std::filesystem::path sources_file(const Options& options, const std::string& name) {
  return judge::named_path(options.baselines / "resources" / "sources", "compiler", name, ".csv");
}

// Whether this compiler's file is missing, but another compiler's file for the same architecture
// exists.
bool only_others_are_blessed(const std::filesystem::path& file) {
  if (std::filesystem::exists(file)) return false;
  const std::string name = file.filename().string();
  const std::string arch = name.substr(0, name.find('-') + 1);
  std::error_code none; // a missing folder has no others
  for (const auto& entry : std::filesystem::directory_iterator(file.parent_path(), none))
    if (entry.path().filename().string().starts_with(arch) && entry.path().extension() == ".csv")
      return true;
  return false;
}

judge::Covers cost_covers(const ExactRows& costs, bool partial) {
  std::set<std::pair<std::string, std::string>> chosen; // op and dtype, or case and variant
  const auto part = [partial](const judge::ExactRow& row) {
    const std::string& id = row.key[0];
    return partial ? std::pair(id, row.key[1])
                   : std::pair(std::string(judge::op_of(id)), std::string(judge::dtype_of(id)));
  };
  for (const ExactMeasured& row : costs) chosen.insert(part(row.row));
  return [chosen, part](const judge::ExactRow& row) { return chosen.contains(part(row)); };
}

judge::Covers resource_covers(const std::set<std::string>& ops) {
  return [ops](const judge::ExactRow& row) {
    return ops.contains(std::string(judge::op_of(row.key.front())));
  };
}

ExactResult judge_costs(const Options& options, const std::string& op, const ExactRows& costs,
                        bool partial) {
  return judge::judge_exact(
      judge::cost_table(), costs, judge::load_exact(judge::cost_table(), cost_file(options, op)),
      cost_covers(costs, partial),
      {options.strict, judge::command("gate --cost"), judge::command("bless --cost")});
}

ExactResult judge_resources(const Options& options, const std::string& name, const ExactRows& rows,
                            const std::set<std::string>& ops) {
  return judge::judge_exact(
      judge::resource_table(), rows,
      judge::load_exact(judge::resource_table(), resource_file(options, name)),
      resource_covers(ops),
      {options.strict, judge::command("resources"), judge::command("resources --bless"),
       only_others_are_blessed(resource_file(options, name))});
}

report::CountedSections judge_counted(const Options& options, const Selection& selection,
                                      const judge::Results& run,
                                      const std::set<std::string>& unread) {
  report::CountedSections sections;
  if (!run.costs.empty()) {
    report::CountedSection costs{&judge::cost_table(), "costs", {}, {}};
    std::vector<int> exits;
    for (const auto& [op, rows] : by_op(run.costs)) {
      costs.measured.insert(costs.measured.end(), rows.begin(), rows.end());
      add(costs.result, judge_costs(options, op, rows, selection.partial), exits);
    }
    costs.result.exit_code = judge::combined_exit(exits, options.strict);
    add_faults(costs.result, without_costs(selection, run.costs));
    sections.push_back(std::move(costs));
  }
  std::set<std::string> ops;
  std::set_difference(selection.ops.begin(), selection.ops.end(), unread.begin(), unread.end(),
                      std::inserter(ops, ops.end()));
  for (const auto& [name, rows] : run.resources) {
    report::CountedSection section{&judge::resource_table(), name, rows,
                                   judge_resources(options, name, rows, ops)};
    add_faults(section.result, without_resources(ops, rows));
    sections.push_back(std::move(section));
  }
  return sections;
}

} // namespace kg::cli
