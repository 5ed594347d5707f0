// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/exact_wording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kg::judge {
namespace {

std::string command(const std::string& start, const ExactTable& table,
                    const std::vector<std::string>& key) {
  return fmt::format("{} {}", start, table.filter(key));
}

// What changed, for a row that has a baseline.
std::string figures(const ExactEvidence& evidence) {
  const auto& [table, file, now, old, found] = evidence;
  std::string line = found.changes.empty() ? "matches the baseline" : changes_text(found);
  if (table->minimum && now->row.values.at(*table->minimum) > 0)
    line += fmt::format(" (minimum {})", exact_number(now->row.values.at(*table->minimum)));
  if (!now->as_blessed.empty()) line += "; " + now->as_blessed;
  if (!found.worse) return line;
  if (!now->site.empty()) line += fmt::format("; {} {}", table->site, now->site);
  if (const std::string hint = hint_text(*now, found); !hint.empty()) line += "; " + hint;
  return line;
}

std::string sentence(ExactCause cause, const ExactEvidence& evidence) {
  const ExactFile& file = *evidence.file;
  switch (cause) {
  case ExactCause::fault: return evidence.now->fault;
  case ExactCause::not_a_number: return "it holds a value that is not a number >= 0";
  case ExactCause::below_minimum: return below_minimum_text(*evidence.table, evidence.now->row);
  case ExactCause::malformed: return file.path + " is malformed";
  case ExactCause::unblessed:
    return file.path + (file.exists ? " has no such row" : " does not exist");
  case ExactCause::compared: return figures(evidence);
  }
  return "";
}

} // namespace

std::string below_minimum_text(const ExactTable& table, const ExactRow& row) {
  return fmt::format(
      "{} {} is below the algorithmic minimum of {}: accesses were not counted (their "
      "instrumentation is lost, or nothing ran), or the operation's Work claims more "
      "than it needs",
      table.quantities.front().name, exact_number(row.values.front()),
      exact_number(row.values.at(*table.minimum)));
}

std::string changes_text(const ExactComparison& found) {
  std::vector<std::string> parts;
  for (const ExactChange& change : found.changes)
    parts.push_back(fmt::format("{} {} -> {}", change.quantity->name, exact_number(change.before),
                                exact_number(change.after)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string hint_text(const ExactMeasured& now, const ExactComparison& found) {
  if (!now.hint.empty()) return now.hint;
  std::string hints;
  for (const ExactChange& change : found.changes) {
    if (!change.worse) continue;
    const auto own = now.hints.find(std::string(change.quantity->name));
    if (own != now.hints.end())
      hints += (hints.empty() ? "" : "; ") + own->second;
    else if (hints.empty())
      hints = change.quantity->hint;
  }
  return hints;
}

void word(ExactVerdict& verdict, const ExactEvidence& evidence, const ExactOptions& options) {
  const auto& [table, file, now, old, found] = evidence;
  verdict.reason = sentence(verdict.cause, evidence);
  verdict.again = command(options.again, *table, verdict.key);
  verdict.message = fmt::format("{}: {}: {}; again: {}", fmt::join(verdict.key, " "),
                                name(verdict.verdict), verdict.reason, verdict.again);
  const std::string bless = command(options.bless, *table, verdict.key);
  if (verdict.verdict == Verdict::unblessed || verdict.verdict == Verdict::improved)
    verdict.message += "; bless: " + bless;
  if (verdict.verdict == Verdict::regressed)
    verdict.message += fmt::format("; if the change is intended: {} --why \"...\"", bless);
  if (!verdict.informs) return;
  if (now->gating == Gating::never)
    verdict.message = "(info) " + verdict.message;
  else
    verdict.message = fmt::format(
        "(info: counted under {}, the baseline under {}, and this quantity depends on the "
        "compiler) {}",
        now->row.counter_id, old->counter_id, verdict.message);
}

std::vector<std::string> sentences(const ExactFaults& faults, const ExactTable& table,
                                   const ExactFile& file, bool no_rows,
                                   const ExactOptions& options) {
  std::vector<std::string> all;
  for (const Problem& problem : file.problems) all.push_back(text(problem));
  for (const ExactRow* row : faults.repeated) all.push_back(key_text(*row) + ": measured twice");
  for (const ExactRow* row : faults.orphans)
    all.push_back(text(Problem{
        file.path, row->line,
        fmt::format("the row '{}' is an orphan: there is nothing that it measures", key_text(*row)),
        fmt::format("remove it: {} --remove-orphans", command(options.bless, table, row->key))}));
  if (no_rows)
    all.emplace_back("no rows: a gate that judges nothing must not pass; check the filters");
  return all;
}

} // namespace kg::judge
