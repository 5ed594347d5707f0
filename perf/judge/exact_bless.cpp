// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/exact_bless.h"

#include "perf/format/table.h"
#include "perf/judge/exact_wording.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace kg::judge {
namespace {

constexpr std::string_view kNoWorse = "no worse";

using Key = std::vector<std::string>;
using Rows = std::map<Key, ExactRow>;

// A row as it will be written if its whole line is accepted.
struct Proposal {
  ExactBlessEntry entry;
  ExactRow row;

  bool writes() const {
    return entry.action == BlessAction::added || entry.action == BlessAction::changed;
  }
};

Proposal propose(const ExactTable& table, const Rows& blessed, const ExactMeasured& measured,
                 bool has_reason) {
  ExactRow row = measured.row;
  ExactBlessEntry entry{row.key, BlessAction::refused, "", ""};
  const auto proposed = [&](BlessAction action, std::string reason = "") {
    entry.action = action;
    entry.reason = std::move(reason);
    return Proposal{entry, row};
  };
  if (!measured.fault.empty()) return proposed(BlessAction::refused, measured.fault);
  if (std::any_of(row.values.begin(), row.values.end(),
                  [](double value) { return std::isnan(value); }) ||
      !are_numbers(table, row))
    return proposed(BlessAction::refused, "it holds a value that is not a number >= 0");
  if (is_below_minimum(table, row))
    return proposed(BlessAction::refused, below_minimum_text(table, row));
  row.line = 0;
  for (double& value : row.values) value = as_written(value);
  const auto at = blessed.find(row.key);
  if (at == blessed.end()) return proposed(BlessAction::added);
  const ExactRow& old = at->second;
  const ExactComparison found = compare_exact(table, old, row);
  entry.changes = changes_text(found);
  if (found.changes.empty() && old.counter_id == row.counter_id)
    return proposed(BlessAction::unchanged);
  if (found.worse && measured.gating != Gating::never && !has_reason)
    return proposed(BlessAction::refused, "it has become worse; say --why");
  return proposed(BlessAction::changed);
}

// Adds a line's rows to `rows`, all or none: a line has one counter_id and one reason.
void bless_line(const ExactTable& table, const Key& line, std::vector<Proposal>& proposals,
                Rows& rows, const std::string& why) {
  const auto refused =
      std::find_if(proposals.begin(), proposals.end(), [](const Proposal& proposal) {
        return proposal.entry.action == BlessAction::refused;
      });
  if (refused != proposals.end()) {
    for (Proposal& proposal : proposals)
      if (proposal.writes()) {
        proposal.entry.action = BlessAction::refused;
        proposal.entry.reason = fmt::format("{} of its line is", refused->entry.key.back());
      }
    return;
  }
  if (std::none_of(proposals.begin(), proposals.end(), std::mem_fn(&Proposal::writes))) return;
  // The keys of its rows begin with the line's, so that they follow it in the map.
  const auto is_of_line = [&](auto at) {
    return at != rows.end() && table.line_key(at->first) == line;
  };
  const std::string reason(!why.empty()                         ? std::string_view(why)
                           : is_of_line(rows.lower_bound(line)) ? kNoWorse
                                                                : kFirstWhy);
  for (Proposal& proposal : proposals)
    if (proposal.writes()) rows[proposal.row.key] = std::move(proposal.row);
  for (auto at = rows.lower_bound(line); is_of_line(at); ++at) at->second.why = reason;
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
  if (measured.empty()) plan.faults.push_back("no rows to bless; check the filters");

  Rows rows;
  for (const ExactRow& row : baseline.rows) rows.emplace(row.key, row);
  std::set<Key> seen;
  std::map<Key, std::vector<Proposal>> lines;
  for (const ExactMeasured& row : measured) {
    if (seen.insert(row.row.key).second)
      lines[table.line_key(row.row.key)].push_back(propose(table, rows, row, !options.why.empty()));
    else
      plan.faults.push_back(key_text(row.row) + ": measured twice");
  }
  for (auto& [line, proposals] : lines) {
    bless_line(table, line, proposals, rows, options.why);
    for (Proposal& proposal : proposals) plan.entries.push_back(std::move(proposal.entry));
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
