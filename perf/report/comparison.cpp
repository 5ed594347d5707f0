// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/comparison.h"

#include "perf/format/sinks.h"
#include "perf/format/table.h"
#include "perf/format/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

namespace kg::report {
namespace {

using judge::ComparedResults;
using judge::ComparedRow;
using judge::TextTable;

std::string side(double ns, std::size_t processes) {
  if (processes == 0) return "-"; // not measured
  return fmt::format("{} ({})", judge::time_text(ns), processes);
}

TextTable rows_of(const ComparedResults& compared) {
  TextTable table({"case", "variant", "mode", "A (processes)", "B (processes)", "A / B", "interval",
                   "detects", "verdict"});
  for (const ComparedRow& row : compared.rows) {
    const judge::RowResult& result = row.result;
    table.add({result.key.case_id, result.key.variant, std::string(judge::name(result.key.mode)),
               side(result.baseline_ns, row.a_processes), side(result.measured_ns, row.b_processes),
               result.ratio ? fmt::format("{:.3f}", *result.ratio) : "-",
               row.detectable_pct ? fmt::format("{:.3f}..{:.3f}", result.ratio_interval.low,
                                                result.ratio_interval.high)
                                  : "-",
               row.detectable_pct ? fmt::format("{:.1f} %", *row.detectable_pct) : "-",
               std::string(judge::name(result.verdict))});
  }
  return table;
}

TextTable environment_of(const ComparedResults& compared) {
  TextTable table({"differs", "A", "B"});
  for (const auto& [key, values] : compared.environment)
    table.add({key, values.first.empty() ? "-" : values.first,
               values.second.empty() ? "-" : values.second});
  return table;
}

// One line per reason, with the first of its rows.
std::vector<std::string> reasons(const ComparedResults& compared) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<const ComparedRow*>> rows;
  for (const ComparedRow& row : compared.rows) {
    if (row.result.verdict == judge::Verdict::pass) continue;
    const std::string why =
        fmt::format("{}: {}", judge::name(row.result.verdict), row.result.reason);
    if (rows[why].empty()) order.push_back(why);
    rows[why].push_back(&row);
  }
  std::vector<std::string> lines;
  for (const std::string& why : order) {
    const std::string first = judge::text(rows[why].front()->result.key);
    lines.push_back(rows[why].size() == 1
                        ? fmt::format("{}: {}", first, why)
                        : fmt::format("{} rows {}; the first: {}", rows[why].size(), why, first));
  }
  return lines;
}

std::vector<std::string> notes(const ComparedResults& compared) {
  std::vector<std::string> lines;
  for (const judge::RowKey& key : compared.only_a) lines.push_back("only in A: " + text(key));
  for (const judge::RowKey& key : compared.only_b) lines.push_back("only in B: " + text(key));
  if (compared.rows.empty()) lines.emplace_back("no row is on both sides, so nothing was compared");
  for (const std::string& line : reasons(compared)) lines.push_back(line);
  return lines;
}

constexpr const char* kRatioScale =
    "A / B below 1: B is slower. The interval errs on either side once "
    "in 1000 times; detects = the "
    "slow-down that these processes would find 9 in 10 times.";

nlohmann::json keys(const std::vector<judge::RowKey>& keys) {
  nlohmann::json list = nlohmann::json::array();
  for (const judge::RowKey& key : keys)
    list.push_back(
        {{"case", key.case_id}, {"variant", key.variant}, {"mode", judge::name(key.mode)}});
  return list;
}

nlohmann::json to_json(const ComparedRow& row) {
  const judge::RowResult& result = row.result;
  nlohmann::json object = {{"case", result.key.case_id},
                           {"variant", result.key.variant},
                           {"mode", judge::name(result.key.mode)},
                           {"kind", judge::name(result.kind)},
                           {"a_ns", result.baseline_ns},
                           {"b_ns", result.measured_ns},
                           {"a_processes", row.a_processes},
                           {"b_processes", row.b_processes},
                           {"verdict", judge::name(result.verdict)},
                           {"reason", result.reason},
                           {"exit_code", result.exit_code}};
  if (result.ratio) {
    object["ratio"] = *result.ratio;
    object["ratio_lo"] = result.ratio_interval.low;
    object["ratio_hi"] = result.ratio_interval.high;
  }
  if (row.detectable_pct) object["detectable_pct"] = *row.detectable_pct;
  return object;
}

} // namespace

std::string plain_text(const ComparedResults& compared) {
  std::string out;
  if (!compared.environment.empty()) out += environment_of(compared).plain() + "\n";
  if (!compared.rows.empty())
    out += fmt::format("{}\n{}\n", rows_of(compared).plain(), kRatioScale);
  for (const std::string& line : notes(compared)) out += judge::for_console(line) + "\n";
  return out;
}

std::string markdown(const ComparedResults& compared) {
  std::string out;
  if (!compared.environment.empty()) out += environment_of(compared).markdown() + "\n";
  if (!compared.rows.empty())
    out += fmt::format("{}\n{}\n\n", rows_of(compared).markdown(), kRatioScale);
  for (const std::string& line : notes(compared)) out += "- " + judge::for_markdown(line) + "\n";
  return out;
}

std::string json(const ComparedResults& compared, int exit_code) {
  nlohmann::json environment = nlohmann::json::object(), rows = nlohmann::json::array();
  for (const auto& [key, values] : compared.environment)
    environment[key] = {{"a", values.first}, {"b", values.second}};
  for (const ComparedRow& row : compared.rows) rows.push_back(to_json(row));
  const nlohmann::json report = {
      {"schema", kComparisonSchema},     {"exit_code", exit_code},
      {"tol_pct", compared.tol_pct},     {"across_devices", compared.across_devices},
      {"environment", environment},      {"rows", rows},
      {"only_a", keys(compared.only_a)}, {"only_b", keys(compared.only_b)}};
  return judge::for_json(report, 1) + "\n";
}

} // namespace kg::report
