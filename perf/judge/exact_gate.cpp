// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/exact_gate.h"

#include "perf/format/sinks.h"
#include "perf/judge/verdict_counts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

namespace kg::judge {
namespace {

using Key = std::vector<std::string>;

std::string command(const std::string& start, const ExactTable& table, const Key& key) {
  return fmt::format("{} {}", start, table.filter(key));
}

// How to accept the value, where it may change.
std::string acceptance(const ExactTable& table, const Key& key, Verdict verdict,
                       const ExactOptions& options) {
  if (verdict == Verdict::unblessed || verdict == Verdict::improved)
    return "; bless: " + command(options.bless, table, key);
  if (verdict == Verdict::regressed)
    return "; if the change is intended: " + command(options.bless, table, key) + " --why \"...\"";
  return "";
}

// Why a row that would gate does not, or nothing.
std::string informing(const ExactMeasured& now, const ExactRow* old) {
  if (now.gating == Gating::never) return "info";
  if (now.gating == Gating::same_counter && old && old->counter_id != now.row.counter_id)
    return fmt::format("info: counted under {}, the baseline under {}, and this quantity depends "
                       "on the compiler",
                       now.row.counter_id, old->counter_id);
  return "";
}

void conclude(ExactVerdict& result, const ExactTable& table, Verdict verdict,
              const std::string& reason, const ExactOptions& options) {
  result.verdict = verdict;
  result.exit_code = verdict == Verdict::pass || verdict == Verdict::improved ? kExitPass
                     : verdict == Verdict::unblessed                          ? kExitSkip
                                                                              : kExitFail;
  result.reason = reason;
  result.again = command(options.again, table, result.key);
  result.message =
      fmt::format("{}: {}: {}; again: {}{}", fmt::join(result.key, " "), name(verdict), reason,
                  result.again, acceptance(table, result.key, verdict, options));
}

// What the figures are, for a row that has a baseline.
std::string figures(const ExactTable& table, const ExactMeasured& now,
                    const ExactComparison& found) {
  std::string line = found.changes;
  if (line.empty()) line = "matches the baseline";
  if (table.minimum && now.row.values.at(*table.minimum) > 0)
    line += fmt::format(" (minimum {})", exact_number(now.row.values.at(*table.minimum)));
  if (!now.as_blessed.empty()) line += "; " + now.as_blessed;
  if (!found.worse) return line;
  if (!now.site.empty()) line += fmt::format("; {} {}", table.site, now.site);
  if (const std::string& hint = now.hint.empty() ? found.hint : now.hint; !hint.empty())
    line += "; " + hint;
  return line;
}

ExactVerdict judge_row(const ExactTable& table, const ExactMeasured& now, const ExactRow* old,
                       const ExactFile& baseline, const ExactOptions& options) {
  ExactVerdict result;
  result.key = now.row.key;
  if (old) result.baseline = old->values;
  if (!now.fault.empty()) {
    conclude(result, table, Verdict::invalid, now.fault, options);
    return result;
  }
  if (!are_numbers(table, now.row)) {
    conclude(result, table, Verdict::invalid, "it holds a value that is not a number >= 0",
             options);
    return result;
  }
  if (const std::string impossible = below_minimum(table, now.row); !impossible.empty()) {
    conclude(result, table, Verdict::invalid, impossible, options);
    return result;
  }
  if (!baseline.problems.empty()) {
    conclude(result, table, Verdict::invalid, fmt::format("{} is malformed", baseline.path),
             options);
    return result;
  }
  if (!old) {
    conclude(
        result, table, Verdict::unblessed,
        fmt::format("{} {}", baseline.path, baseline.exists ? "has no such row" : "does not exist"),
        options);
    // What is counted depends on no device, so its baseline is missing nowhere: a deleted file must
    // not switch its gate off.
    if (!options.unknown_compiler) result.exit_code = kExitFail;
    return result;
  }
  const ExactComparison found = compare_exact(table, *old, now.row, now.hints);
  result.ratio = found.ratio;
  result.grade = grade(found.ratio);
  result.changed = !found.changes.empty();
  conclude(result, table,
           found.worse    ? Verdict::regressed
           : found.better ? Verdict::improved
                          : Verdict::pass,
           figures(table, now, found), options);
  if (const std::string informs = informing(now, old); !informs.empty()) {
    result.informs = true;
    result.exit_code = kExitPass;
    result.message = fmt::format("({}) {}", informs, result.message);
  }
  return result;
}

} // namespace

ExactComparison compare_exact(const ExactTable& table, const ExactRow& old, const ExactRow& now,
                              const std::map<std::string, std::string>& hints) {
  ExactComparison found;
  bool compared = false;
  for (std::size_t i = 0; i < table.quantities.size(); ++i) {
    const Quantity& quantity = table.quantities[i];
    if (std::isnan(now.values.at(i)) && quantity.optional) continue;
    const double before = as_written(old.values.at(i)), after = as_written(now.values.at(i));
    if (before != after)
      found.changes += fmt::format("{}{} {} -> {}", found.changes.empty() ? "" : ", ",
                                   quantity.name, exact_number(before), exact_number(after));
    if (quantity.better == Better::neither) continue;
    const bool lower = quantity.better == Better::lower;
    const bool worse = lower ? after > before : after < before;
    const auto own = hints.find(std::string(quantity.name));
    if (worse && own != hints.end())
      found.hint += (found.hint.empty() ? "" : "; ") + own->second;
    else if (worse && found.hint.empty())
      found.hint = quantity.hint;
    found.worse = found.worse || worse;
    found.better = found.better || (lower ? after < before : after > before);
    const double ratio = lower ? cost_ratio(before, after) : cost_ratio(after, before);
    found.ratio = compared ? std::min(found.ratio, ratio) : ratio;
    compared = true;
  }
  return found;
}

ExactResult judge_exact(const ExactTable& table, const std::vector<ExactMeasured>& measured,
                        const ExactFile& baseline, const Covers& covers,
                        const ExactOptions& options) {
  ExactResult result;
  for (const Problem& problem : baseline.problems) result.faults.push_back(text(problem));
  std::map<Key, const ExactRow*> blessed;
  for (const ExactRow& row : baseline.rows) blessed.emplace(row.key, &row);

  std::set<Key> seen;
  for (const ExactMeasured& now : measured) {
    if (!seen.insert(now.row.key).second)
      result.faults.push_back(key_text(now.row) + ": measured twice");
    const auto old = blessed.find(now.row.key);
    result.rows.push_back(
        judge_row(table, now, old == blessed.end() ? nullptr : old->second, baseline, options));
  }
  for (const ExactRow& row : baseline.rows)
    if (!seen.contains(row.key) && (!covers || covers(row)))
      result.faults.push_back(text(Problem{
          baseline.path, row.line,
          fmt::format("the row '{}' is an orphan: there is nothing that it measures",
                      key_text(row)),
          fmt::format("remove it: {} --remove-orphans", command(options.bless, table, row.key))}));
  if (measured.empty())
    result.faults.push_back("no rows: a gate that judges nothing must not pass; check the filters");

  std::vector<RowExit> exits;
  for (const ExactVerdict& row : result.rows) exits.push_back({row.exit_code, row.informs});
  result.exit_code = result.faults.empty() ? exit_of_rows(exits, options.strict) : kExitFail;
  return result;
}

std::string plain_text(const ExactResult& result) {
  std::string lines;
  VerdictCounts counts;
  std::size_t unblessed = 0;
  for (const ExactVerdict& row : result.rows) {
    counts.add(row.verdict, {row.exit_code, row.informs});
    if (row.verdict == Verdict::unblessed && ++unblessed > 1) continue; // much alike
    if (row.verdict != Verdict::pass || row.changed) lines += for_console(row.message) + "\n";
  }
  for (const std::string& fault : result.faults) lines += for_console(fault) + "\n";
  const std::size_t faults = result.faults.size();
  const std::string faulty =
      faults == 0 ? "" : fmt::format(", {} fault{}", faults, faults == 1 ? "" : "s");
  return lines + fmt::format("{}{} (exit {})\n", text(counts), faulty, result.exit_code);
}

} // namespace kg::judge
