// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/summary.h"

#include "perf/format/sinks.h"
#include "perf/format/table.h"
#include "perf/judge/command.h"
#include "perf/judge/statistics.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kg::judge {
namespace {

TextTable categories_of(const Summary& summary) {
  TextTable table({"category", "grade", "geomean", "graded rows"});
  for (const auto& [category, group] : summary.categories)
    table.add({category, group.grade ? std::string(name(*group.grade)) : "-",
               group.geomean ? fmt::format("{:.3f}", *group.geomean) : "-",
               fmt::format("{} of {}", group.graded, group.rows)});
  return table;
}

TextTable worst_of(const Summary& summary) {
  TextTable table({"slowest rows", "grade", "ratio", "verdict"});
  for (const RowResult* row : summary.worst)
    table.add({text(row->key), grade_text(*row->grade, row->ratio_interval),
               fmt::format("{:.3f}", *row->ratio), std::string(name(row->verdict))});
  return table;
}

std::string counts_of_grades(const Summary& summary) {
  std::vector<std::string> parts;
  for (const Grade grade : kGrades)
    parts.push_back(fmt::format("{} {}", summary.grades.at(grade), name(grade)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// One line per row, or one for all rows with the same message.
std::vector<std::string> lines_of(const std::vector<const RowResult*>& rows) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto same = [&](const RowResult* row) {
      return row->verdict == rows[i]->verdict && row->reason == rows[i]->reason &&
             row->exit_code == rows[i]->exit_code && !row->reason.empty();
    };
    const auto begin = rows.begin();
    const auto here = begin + static_cast<std::ptrdiff_t>(i);
    if (std::any_of(begin, here, same)) continue;
    const auto alike = std::count_if(here, rows.end(), same);
    lines.push_back(
        alike < 2 ? rows[i]->message
                  : fmt::format("{} rows {}: {}; the first: {}", alike, name(rows[i]->verdict),
                                rows[i]->reason,
                                row_command("gate", rows[i]->op, rows[i]->dtype, rows[i]->key)));
  }
  return lines;
}

} // namespace

GroupGrade grade_group(std::span<const RowResult* const> rows) {
  GroupGrade group;
  std::vector<double> ratios;
  bool critical = false;
  for (const RowResult* row : rows) {
    ++group.rows;
    if (!row->grade) continue; // the ratio of an undecided row does not count
    ratios.push_back(*row->ratio);
    critical = critical || *row->grade == Grade::critical;
  }
  group.graded = ratios.size();
  if (ratios.empty()) return group;
  group.geomean = geometric_mean(ratios);
  if (group.graded < group.rows) return group;
  group.grade = grade(*group.geomean);
  if (critical) group.grade = std::max(*group.grade, Grade::fair); // grades are declared best first
  return group;
}

Summary summarise(const GateResult& result, std::size_t worst_rows) {
  Summary summary;
  for (const Grade grade : kGrades) summary.grades[grade] = 0;
  std::map<std::string, std::vector<const RowResult*>> categories;
  for (const RowResult& row : result.rows) {
    summary.verdicts.add(row.verdict, {row.exit_code, row.informs});
    if (row.exit_code == kExitFail)
      summary.to_fix.push_back(&row);
    else if (row.exit_code == kExitSkip || row.warning)
      summary.to_know.push_back(&row);
    if (row.kind != Kind::ours) continue;
    categories[row.category].push_back(&row);
    if (!row.grade) continue;
    ++summary.grades[*row.grade];
    summary.worst.push_back(&row);
  }
  for (const auto& [category, rows] : categories) summary.categories[category] = grade_group(rows);
  std::stable_sort(summary.worst.begin(), summary.worst.end(),
                   [](const RowResult* a, const RowResult* b) { return *a->ratio < *b->ratio; });
  summary.worst.resize(std::min(summary.worst.size(), worst_rows));
  return summary;
}

std::string exit_line(const Summary& summary, const GateResult& result) {
  const std::string_view outcome = result.exit_code == kExitPass   ? "passed"
                                   : result.exit_code == kExitSkip ? "SKIPPED"
                                                                   : "FAILED";
  std::string faults;
  if (!result.faults.empty())
    faults =
        fmt::format(", {} fault{}", result.faults.size(), result.faults.size() == 1 ? "" : "s");
  return fmt::format("{}: {}{} (exit {})", outcome, text(summary.verdicts), faults,
                     result.exit_code);
}

std::string plain_text(const Summary& summary, const GateResult& result) {
  std::string out = fmt::format("grades: {}\n", counts_of_grades(summary));
  if (!summary.categories.empty()) out += "\n" + categories_of(summary).plain();
  if (!summary.worst.empty()) out += "\n" + worst_of(summary).plain();
  out += "\n";
  for (const std::string& note : result.notes) out += fmt::format("note: {}\n", for_console(note));
  for (const std::string& line : lines_of(summary.to_know))
    out += fmt::format("note: {}\n", for_console(line));
  for (const std::string& fault : result.faults)
    out += fmt::format("FAIL: {}\n", for_console(fault));
  for (const std::string& line : lines_of(summary.to_fix))
    out += fmt::format("FAIL: {}\n", for_console(line));
  return out + exit_line(summary, result) + "\n";
}

std::string counts_markdown(const Summary& summary) {
  std::string out = fmt::format("**Grades:** {}  \n**Verdicts:** {}\n", counts_of_grades(summary),
                                text(summary.verdicts));
  if (!summary.categories.empty()) out += "\n" + categories_of(summary).markdown();
  if (!summary.worst.empty()) out += "\n" + worst_of(summary).markdown();
  return out;
}

std::string worth_knowing_markdown(const Summary& summary, std::size_t most) {
  const std::vector<std::string> lines = lines_of(summary.to_know);
  if (lines.empty()) return "";
  std::string out = "### Worth knowing\n\n";
  for (std::size_t i = 0; i < std::min(most, lines.size()); ++i)
    out += fmt::format("- {}\n", for_markdown(lines[i]));
  if (lines.size() > most)
    out += fmt::format("\n{} more are in report.html.\n", lines.size() - most);
  return out + "\n";
}

} // namespace kg::judge
