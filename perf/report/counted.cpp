// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/counted.h"

#include "perf/format/sinks.h"
#include "perf/format/table.h"
#include "perf/judge/exact_wording.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

namespace kg::report {
namespace {

using judge::ExactMeasured;
using judge::ExactRow;
using judge::ExactTable;
using judge::ExactVerdict;

int urgency(const ExactVerdict& row) {
  if (row.exit_code == judge::kExitFail) return 0;
  if (row.exit_code == judge::kExitSkip) return 1;
  return row.changed ? 2 : 3;
}

const std::string kUnchanged = "unchanged"; // takes the place of a verdict

// Neither compiled nor counted, and unchanged since blessed.
bool is_unchanged(const CountedSection& section, std::size_t row) {
  return !section.measured[row].as_blessed.empty() && urgency(section.result.rows[row]) == 3;
}

std::string word(const CountedSection& section, std::size_t row) {
  return is_unchanged(section, row) ? kUnchanged
                                    : std::string(judge::name(section.result.rows[row].verdict));
}

std::size_t unchanged(const CountedSection& section) {
  std::size_t rows = 0;
  for (std::size_t i = 0; i < section.measured.size(); ++i) rows += is_unchanged(section, i);
  return rows;
}

// Counts the other rows.
judge::VerdictCounts count(const CountedSection& section) {
  judge::VerdictCounts counts;
  for (std::size_t i = 0; i < section.measured.size(); ++i)
    if (const ExactVerdict& row = section.result.rows[i]; !is_unchanged(section, i))
      counts.add(row.verdict, {row.exit_code, row.informs});
  return counts;
}

std::optional<double> minimum(const CountedSection& section, const ExactRow& row) {
  if (!section.table->minimum) return std::nullopt;
  const double least = row.values.at(*section.table->minimum);
  return least > 0 ? std::optional(least) : std::nullopt;
}

judge::ExactComparison comparison(const CountedSection& section, std::size_t row) {
  const ExactVerdict& verdict = section.result.rows[row];
  const ExactRow& now = section.measured[row].row;
  if (verdict.baseline.empty()) return {};
  return judge::compare_exact(*section.table, {now.key, verdict.baseline, "", "", 0}, now);
}

std::string hint(const CountedSection& section, std::size_t row) {
  return judge::hint_text(section.measured[row], comparison(section, row));
}

std::string file_and_line(const std::string& site) {
  return std::filesystem::path(site).filename().string();
}

std::string variant(const CountedSection& section, const ExactRow& row) {
  return row.key.size() > 1 ? row.key[1] : section.name;
}

std::string counts_text(const CountedSection& section) {
  const std::size_t faults = section.result.faults.size();
  const std::size_t kept = unchanged(section);
  std::vector<std::string> parts;
  if (kept == 0 || kept < section.measured.size()) parts.push_back(judge::text(count(section)));
  if (kept > 0)
    parts.push_back(fmt::format("{} unchanged since blessed (not {})", kept,
                                section.table->counted ? "counted" : "compiled"));
  if (faults > 0) parts.push_back(fmt::format("{} fault{}", faults, faults == 1 ? "" : "s"));
  return fmt::format("{}", fmt::join(parts, ", "));
}

nlohmann::json row_json(const CountedSection& section, std::size_t i) {
  const ExactTable& table = *section.table;
  const ExactMeasured& measured = section.measured[i];
  const ExactVerdict& verdict = section.result.rows[i];
  nlohmann::json row = {{"verdict", word(section, i)}, {"exit_code", verdict.exit_code}};
  for (std::size_t k = 0; k < table.keys.size(); ++k)
    row[std::string(table.keys[k])] = measured.row.key[k];
  for (std::size_t q = 0; q < table.quantities.size(); ++q)
    if (!std::isnan(measured.row.values[q]))
      row[std::string(table.quantities[q].name)] = judge::as_written(measured.row.values[q]);
  if (verdict.ratio && std::isfinite(*verdict.ratio)) row["ratio"] = *verdict.ratio;
  if (verdict.informs) row["informs"] = true;
  if (!measured.as_blessed.empty()) row["as_blessed"] = measured.as_blessed;
  if (!measured.site.empty()) row["site"] = measured.site;
  if (const std::string what = hint(section, i); !what.empty()) row["hint"] = what;
  if (urgency(verdict) < 3) row["message"] = verdict.message;
  if (verdict.baseline.empty()) return row;
  row["baseline"] = nlohmann::json::object();
  for (std::size_t q = 0; q < table.quantities.size(); ++q)
    row["baseline"][std::string(table.quantities[q].name)] = verdict.baseline[q];
  return row;
}

} // namespace

std::vector<std::size_t> worst_first(const CountedSection& section) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  std::vector<std::tuple<int, double, double, std::size_t>> order;
  for (std::size_t i = 0; i < section.measured.size(); ++i) {
    const ExactRow& row = section.measured[i].row;
    const ExactVerdict& verdict = section.result.rows.at(i);
    const auto least = minimum(section, row);
    order.emplace_back(urgency(verdict), verdict.ratio.value_or(-kNone),
                       least ? judge::cost_ratio(*least, row.values.front()) : kNone, i);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::size_t> places;
  for (const auto& entry : order) places.push_back(std::get<3>(entry));
  return places;
}

bool is_unchanged(const CountedSection& section) {
  return !section.measured.empty() && unchanged(section) == section.measured.size();
}

std::string line(const CountedSection& section) {
  return fmt::format("{}: {}", section.name, counts_text(section));
}

nlohmann::json json(const CountedSection& section) {
  nlohmann::json keys = nlohmann::json::array(), quantities = nlohmann::json::array(),
                 rows = nlohmann::json::array(), verdicts = nlohmann::json::object();
  for (const std::string_view key : section.table->keys) keys.push_back(key);
  for (const judge::Quantity& quantity : section.table->quantities)
    quantities.push_back(quantity.name);
  for (const std::size_t i : worst_first(section)) rows.push_back(row_json(section, i));
  for (const auto& [verdict, number] : count(section).gated)
    verdicts[std::string(judge::name(verdict))] = number;
  if (const std::size_t kept = unchanged(section); kept > 0) verdicts[kUnchanged] = kept;
  return {{"table", section.table->schema.name},
          {"name", section.name},
          {"line", line(section)},
          {"exit_code", section.result.exit_code},
          {"keys", keys},
          {"quantities", quantities},
          {"verdicts", verdicts},
          {"faults", section.result.faults},
          {"rows", rows}};
}

std::string markdown(const CountedSection& section, std::size_t most) {
  judge::TextTable table({"row", "verdict", "baseline -> measured", "minimum", "at", "hint"});
  std::size_t shown = 0, left = 0;
  for (const std::size_t i : worst_first(section)) {
    const ExactVerdict& verdict = section.result.rows[i];
    const ExactMeasured& measured = section.measured[i];
    if (urgency(verdict) == 3) break; // the remaining rows are unchanged
    if (shown == most) {
      ++left;
      continue;
    }
    ++shown;
    const auto least = minimum(section, measured.row);
    const std::string changes = judge::changes_text(comparison(section, i));
    const std::string now = fmt::format("{} {}", section.table->quantities.front().name,
                                        judge::exact_number(measured.row.values.front()));
    table.add({judge::key_text(measured.row), std::string(judge::name(verdict.verdict)),
               changes.empty() ? now : changes, least ? judge::exact_number(*least) : "-",
               file_and_line(measured.site), hint(section, i)});
  }
  std::string text =
      fmt::format("### {}\n\n{}\n", judge::for_markdown(section.name), counts_text(section));
  if (shown > 0) text += "\n" + table.markdown();
  if (left > 0) text += fmt::format("\n{} more such rows are in report.html.\n", left);
  if (!section.result.faults.empty()) text += "\n";
  for (const std::string& fault : section.result.faults)
    text += fmt::format("- {}\n", judge::for_markdown(fault));
  return text + "\n";
}

std::vector<std::map<std::string, std::string>> csv_records(const CountedSection& section) {
  const ExactTable& table = *section.table;
  std::vector<std::map<std::string, std::string>> records;
  for (const std::size_t i : worst_first(section)) {
    if (is_unchanged(section, i)) continue; // equal to its baseline
    const ExactMeasured& measured = section.measured[i];
    const ExactVerdict& verdict = section.result.rows[i];
    const bool as_blessed = urgency(verdict) == 3; // no message is necessary
    for (std::size_t q = 0; q < table.quantities.size(); ++q) {
      if (q == table.minimum || std::isnan(measured.row.values[q])) continue;
      std::map<std::string, std::string> record = {
          {"case", judge::for_csv(measured.row.key[0])},
          {"variant", judge::for_csv(variant(section, measured.row))},
          {"kind", "ours"},
          {"verdict", word(section, i)},
          {"message", as_blessed ? "" : judge::for_csv(verdict.message)},
          {"metric", measured.row.key.size() > 2 ? judge::for_csv(measured.row.key[2])
                                                 : std::string(table.quantities[q].name)},
          {"measured", judge::exact_number(measured.row.values[q])},
          {"site", judge::for_csv(measured.site)},
          {"hint", as_blessed ? "" : judge::for_csv(hint(section, i))}};
      if (verdict.ratio) record["ratio"] = judge::csv_number(*verdict.ratio);
      if (verdict.grade) record["grade"] = std::string(judge::name(*verdict.grade));
      if (!verdict.baseline.empty()) record["baseline"] = judge::exact_number(verdict.baseline[q]);
      if (const auto least = minimum(section, measured.row))
        record["minimum"] = judge::exact_number(*least);
      records.push_back(std::move(record));
    }
  }
  return records;
}

TestSuite junit_suite(const CountedSection& section) {
  const std::string kind(section.table->schema.name);
  TestSuite suite{section.name, {}};
  for (std::size_t i = 0; i < section.measured.size(); ++i) {
    const ExactMeasured& measured = section.measured[i];
    const ExactVerdict& verdict = section.result.rows[i];
    TestCase test{fmt::format("{}.{}", kind, section.name),
                  judge::key_text(measured.row),
                  0,
                  verdict.exit_code,
                  std::string(judge::name(verdict.verdict)),
                  verdict.message};
    for (std::size_t q = 0; q < section.table->quantities.size(); ++q) {
      if (std::isnan(measured.row.values[q])) continue;
      const std::string name(section.table->quantities[q].name);
      test.properties.emplace_back(name, judge::csv_number(measured.row.values[q]));
      if (!verdict.baseline.empty())
        test.properties.emplace_back("baseline_" + name, judge::csv_number(verdict.baseline[q]));
    }
    test.properties.emplace_back("verdict", word(section, i));
    if (!measured.as_blessed.empty())
      test.properties.emplace_back("as_blessed", measured.as_blessed);
    suite.cases.push_back(std::move(test));
  }
  for (const std::string& fault : section.result.faults)
    suite.cases.push_back(fault_case(kind, fault));
  return suite;
}

} // namespace kg::report
