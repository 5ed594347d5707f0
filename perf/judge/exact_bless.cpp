// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/exact_bless.h"

#include "perf/judge/table.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <utility>

namespace kg::judge {
namespace {

constexpr std::string_view kNoWorse = "no worse";

using Rows = std::map<std::vector<std::string>, ExactRow>;

// Decides about one row and, if it is blessed, puts it among `rows`.
ExactBlessEntry bless_row(const ExactTable& table, Rows& rows, const ExactMeasured& measured,
                          const std::string& why) {
  ExactRow row = measured.row;
  ExactBlessEntry entry{row.key, BlessAction::refused, "", measured.fault};
  if (!entry.reason.empty()) return entry;
  if (std::any_of(row.values.begin(), row.values.end(),
                  [](double value) { return std::isnan(value); }) ||
      !are_numbers(table, row)) {
    entry.reason = "it holds a value that is no number >= 0";
    return entry;
  }
  entry.reason = below_minimum(table, row);
  if (!entry.reason.empty()) return entry;
  row.line = 0;
  for (double& value : row.values) value = as_written(value);
  const auto at = rows.find(row.key);
  if (at == rows.end()) {
    row.why = why.empty() ? kFirstWhy : why;
    rows.emplace(row.key, std::move(row));
    entry.action = BlessAction::added;
    return entry;
  }
  const ExactRow& old = at->second;
  const ExactComparison found = compare_exact(table, old, row);
  entry.changes = found.changes;
  if (found.changes.empty() && old.counter_id == row.counter_id) {
    entry.action = BlessAction::unchanged;
    return entry;
  }
  if (found.worse && measured.gating != Gating::never && why.empty()) {
    entry.reason = "it has become worse; say --why";
    return entry;
  }
  row.why = why.empty() ? kNoWorse : why;
  at->second = std::move(row);
  entry.action = BlessAction::changed;
  return entry;
}

} // namespace

bool ExactBlessPlan::changes() const { return faults.empty() && any_write(entries); }

int ExactBlessPlan::exit_code() const {
  return any_refused(entries) || !faults.empty() ? kExitFail : kExitPass;
}

ExactBlessPlan plan_exact_bless(const ExactTable& table, const std::vector<ExactMeasured>& measured,
                                const ExactFile& baseline, const Covers& covers,
                                const ExactBlessOptions& options) {
  ExactBlessPlan plan;
  for (const Problem& problem : baseline.problems) plan.faults.push_back(text(problem));
  if (options.dirty_tree)
    plan.faults.push_back("the source tree has uncommitted changes, so the values belong to no "
                          "commit; commit or stash them first");
  if (measured.empty()) plan.faults.push_back("there are no rows to bless; check the filters");

  Rows rows;
  for (const ExactRow& row : baseline.rows) rows.emplace(row.key, row);
  std::set<std::vector<std::string>> seen;
  for (const ExactMeasured& row : measured) {
    if (seen.insert(row.row.key).second)
      plan.entries.push_back(bless_row(table, rows, row, options.why));
    else
      plan.faults.push_back(key_text(row.row) + ": measured twice");
  }
  if (options.remove_orphans)
    for (const ExactRow& row : baseline.rows)
      if (!seen.contains(row.key) && (!covers || covers(row))) {
        plan.entries.push_back({row.key, BlessAction::removed, "", ""});
        rows.erase(row.key);
      }
  std::stable_sort(plan.entries.begin(), plan.entries.end(),
                   [](const auto& a, const auto& b) { return a.key < b.key; });
  for (auto& [key, row] : rows) plan.rows.push_back(std::move(row));
  return plan;
}

void carry_out(const ExactTable& table, const ExactBlessPlan& plan,
               const std::filesystem::path& path) {
  if (plan.changes()) save_exact(table, path, plan.rows);
}

std::string text(const ExactBlessPlan& plan) {
  TextTable table({"row", "what", "old -> new", ""});
  std::size_t unchanged = 0;
  for (const ExactBlessEntry& entry : plan.entries) {
    if (entry.action == BlessAction::unchanged)
      ++unchanged;
    else
      table.add({fmt::format("{}", fmt::join(entry.key, " ")), std::string(name(entry.action)),
                 entry.changes, entry.reason});
  }
  std::string result = unchanged < plan.entries.size() ? table.plain() : "";
  if (unchanged > 0) result += fmt::format("{} rows unchanged\n", unchanged);
  for (const std::string& fault : plan.faults)
    result += fmt::format("nothing is written: {}\n", fault);
  return result;
}

} // namespace kg::judge
