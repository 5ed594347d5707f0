// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/selftest/comparison.h"

#include "perf/lab/selftest/rules.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kg::selftest {
namespace {

// The slowdown after the last '_' of an experiment's name, or -1 if there is none.
double percent_of(const std::string& experiment) {
  const std::size_t at = experiment.rfind('_');
  double percent = -1;
  if (at != experiment.npos)
    std::from_chars(experiment.data() + at + 1, experiment.data() + experiment.size(), percent);
  return percent;
}

bool changed(const std::string& experiment) {
  return experiment == "creep" || percent_of(experiment) > 0;
}

// A/A first, then slowdowns in ascending order, then the rest by name.
std::pair<double, std::string> rank(const std::string& experiment) {
  const double percent = experiment.starts_with("inject_") ? percent_of(experiment) : 1e6;
  return {experiment == "aa" ? -1 : percent, experiment};
}

std::string header(const std::string& experiment) {
  if (experiment == "aa") return "false alarms";
  if (experiment.starts_with("inject_")) return fmt::format("+{:g} %", percent_of(experiment));
  return experiment;
}

std::string cell(const CalibrationRow& row) {
  const std::string count = fmt::format("{}/{}", row.flagged, row.rows_checked);
  if (changed(row.experiment))
    return fmt::format("{:.1f} % (>= {:.1f} %, {})", 100 * row.rate(), 100 * row.low(), count);
  const double high = 100 * row.high(); // two digits, without exponent notation
  const std::string most = high < 10 ? fmt::format("{:.2g}", high) : fmt::format("{:.0f}", high);
  return fmt::format("{:.3g} % (<= {} %, {})", 100 * row.rate(), most, count);
}

} // namespace

judge::TextTable comparison(std::span<const CalibrationRow> pooled, std::string_view rows) {
  std::map<std::pair<std::string, std::string>, const CalibrationRow*> cells;
  std::set<std::pair<double, std::string>> experiments;
  for (const CalibrationRow& row : pooled) {
    if (row.rows != rows) continue;
    cells[{row.rule, row.experiment}] = &row;
    experiments.insert(rank(row.experiment));
  }
  std::vector<std::pair<std::string, std::string>> rules = {{std::string(kOurRule), "Kernelgrade"}};
  for (const Rule& rule : rivals()) rules.emplace_back(rule.name, rule.title);

  std::vector<std::string> line = {"rule"};
  for (const auto& [order, experiment] : experiments) line.push_back(header(experiment));
  line.push_back("undecided, unchanged");
  judge::TextTable table(line);
  for (const auto& [rule, title] : rules) {
    line.assign(1, title);
    for (const auto& [order, experiment] : experiments) {
      const auto at = cells.find({rule, experiment});
      line.push_back(at == cells.end() ? "-" : cell(*at->second));
    }
    const auto aa = cells.find({rule, "aa"});
    line.push_back(
        aa == cells.end()
            ? "-"
            : fmt::format("{:.3g} %", 100 * static_cast<double>(aa->second->inconclusive) /
                                          static_cast<double>(aa->second->rows_checked)));
    table.add(line);
  }
  return table;
}

} // namespace kg::selftest
