// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/cost_shares.h"

#include "perf/cli/counted.h"
#include "perf/cli/selection.h"
#include "perf/format/table.h"
#include "perf/judge/exact_table.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <ostream>
#include <string>
#include <vector>

namespace kg::cli {
namespace {

using Shares = std::map<std::string, double>; // by metric

struct Shown {
  const char* metric;
  const char* heading;
};
constexpr Shown kTime = {"bound_ns.h200", "time on an H200, modelled"};
constexpr Shown kShown[] = {{"unique_sectors", "unique sectors, counted"},
                            {"matrix_instructions", "MMA instructions, counted"},
                            kTime};

double time_share(const Shares& shares) {
  const auto found = shares.find(kTime.metric);
  return found == shares.end() ? 0 : found->second;
}

// For each case, the shares of its fastest variant.
std::vector<Shares> fastest(const judge::ExactFile& file) {
  std::map<std::string, std::map<std::string, Shares>> cases; // by case, then variant
  for (const judge::ExactRow& row : file.rows) {
    const double value = row.values.at(0), minimum = row.values.at(1);
    if (minimum > 0) cases[row.key.at(0)][row.key.at(1)][row.key.at(2)] = minimum / value;
  }
  std::vector<Shares> found;
  for (const auto& [id, variants] : cases)
    found.push_back(
        std::max_element(variants.begin(), variants.end(), [](const auto& a, const auto& b) {
          return time_share(a.second) < time_share(b.second);
        })->second);
  return found;
}

std::string range(const std::vector<Shares>& cases, const char* metric) {
  std::vector<double> shares;
  for (const Shares& of_case : cases)
    if (const auto found = of_case.find(metric); found != of_case.end())
      shares.push_back(found->second);
  if (shares.empty()) return "-";
  const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
  const std::string from = fmt::format("{:.2f}", *least), to = fmt::format("{:.2f}", *most);
  return from == to ? to : from + " to " + to;
}

} // namespace

int list_shares(const Options& options, World& world) {
  std::vector<std::string> header = {"operation", "cases"};
  for (const Shown& shown : kShown) header.emplace_back(shown.heading);
  judge::TextTable table(header);
  const Selection selection = select(world, options.filters);
  if (selection.selected == 0) throw Error(nothing_selected(world));
  for (const std::string& op : selection.ops) {
    const judge::ExactFile file = judge::load_exact(judge::cost_table(), cost_file(options, op));
    if (!file.problems.empty()) throw Error(judge::text(file.problems));
    const std::vector<Shares> cases = fastest(file);
    if (cases.empty()) continue;
    std::vector<std::string> cells = {op, fmt::format("{}", cases.size())};
    for (const Shown& shown : kShown) cells.push_back(range(cases, shown.metric));
    table.add(cells);
  }
  world.out << table.markdown();
  return judge::kExitPass;
}

} // namespace kg::cli
