// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/exact_lines.h"

#include "runtime/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace kg::judge {
namespace {

using Key = std::vector<std::string>;
using Fields = std::vector<std::string>;

ExactRow row_of(const ExactTable& table, const TableRow& line) {
  ExactRow row;
  row.line = line.line;
  auto field = line.fields.begin();
  for (std::size_t i = 0; i < table.keys.size(); ++i) row.key.push_back(*field++);
  for (std::size_t i = 0; i < table.quantities.size(); ++i)
    row.values.push_back(parse_number(*field++).value());
  if (table.counted) row.counter_id = *field++;
  row.why = *field;
  return row;
}

Fields line_of(const ExactTable& table, const ExactRow& row) {
  Fields fields = row.key;
  for (const double value : row.values) fields.push_back(exact_number(value));
  if (table.counted) fields.push_back(row.counter_id);
  fields.push_back(row.why);
  return fields;
}

void require_fits(const ExactTable& table, const ExactRow& row) {
  require(row.key.size() == table.keys.size() && row.values.size() == table.quantities.size(),
          fmt::format("row '{}' has {} values under {} keys; a {} row has {} and {}", key_text(row),
                      row.values.size(), row.key.size(), table.schema.name, table.quantities.size(),
                      table.keys.size()));
  if (table.metrics.empty()) return;
  const auto metric =
      std::find_if(table.metrics.begin(), table.metrics.end(),
                   [&](const MetricColumns& one) { return one.name == row.key.back(); });
  require(metric != table.metrics.end(),
          fmt::format("row '{}': a {} table has no column for that metric; add it to "
                      "make_cost_table in perf/judge/exact_table.cpp",
                      key_text(row), table.schema.name));
  require(!metric->minimum_column.empty() || row.values[1] == metric->minimum,
          fmt::format("row '{}': the minimum {} has no column, and is not {}", key_text(row),
                      exact_number(row.values[1]), exact_number(metric->minimum)));
  require(metric->of_compiler || row.counter_id.empty(),
          fmt::format("row '{}': counter_id '{}' of a metric that depends on no compiler",
                      key_text(row), row.counter_id));
}

// The fields in which all rows of a line must agree.
std::string only_one(const std::set<std::string>& found, const Key& line, std::string_view column) {
  if (found.empty()) return "";
  require(found.size() == 1,
          fmt::format("'{}': rows of one line differ in {}: '{}' and '{}'; bless them together",
                      fmt::join(line, " "), column, *found.begin(), *found.rbegin()));
  return *found.begin();
}

Fields line_of(const ExactTable& table, const Key& key,
               const std::map<std::string_view, const ExactRow*>& rows) {
  Fields fields = key;
  std::set<std::string> counters, reasons;
  for (const MetricColumns& metric : table.metrics) {
    const auto at = rows.find(metric.name);
    const ExactRow* const row = at == rows.end() ? nullptr : at->second;
    fields.push_back(row ? exact_number(row->values[0]) : "");
    if (!metric.minimum_column.empty()) fields.push_back(row ? exact_number(row->values[1]) : "");
    if (!row) continue;
    reasons.insert(row->why);
    if (metric.of_compiler) counters.insert(row->counter_id);
  }
  fields.push_back(only_one(counters, key, "counter_id"));
  fields.push_back(only_one(reasons, key, "why"));
  return fields;
}

} // namespace

std::vector<ExactRow> rows_of(const ExactTable& table, const TableRow& line,
                              std::vector<Complaint>& complaints) {
  if (table.metrics.empty()) return {row_of(table, line)};
  const std::size_t keys = table.keys.size() - 1;
  const std::string &counter_id = *(line.fields.end() - 2), &why = line.fields.back();
  std::vector<ExactRow> rows;
  auto field = line.fields.begin() + static_cast<std::ptrdiff_t>(keys);
  for (const MetricColumns& metric : table.metrics) {
    const std::string& value = *field++;
    const std::string minimum = !metric.minimum_column.empty() ? *field++
                                : value.empty()                ? ""
                                                               : exact_number(metric.minimum);
    if (value.empty() != minimum.empty())
      complaints.push_back(
          {fmt::format("of {} and {} one is empty", metric.name, metric.minimum_column),
           "delete the line, then count and bless the row again"});
    if (value.empty() || minimum.empty()) continue;
    ExactRow row;
    row.line = line.line;
    row.key.assign(line.fields.begin(), line.fields.begin() + static_cast<std::ptrdiff_t>(keys));
    row.key.emplace_back(metric.name);
    row.values = {parse_number(value).value(), parse_number(minimum).value()};
    if (metric.of_compiler) row.counter_id = counter_id;
    row.why = why;
    rows.push_back(std::move(row));
  }
  if (rows.empty())
    complaints.push_back(
        {"it holds no metric", "delete the line, then count and bless the row again"});
  return rows;
}

std::vector<std::vector<std::string>> lines_of(const ExactTable& table,
                                               const std::vector<ExactRow>& rows) {
  std::vector<Fields> lines;
  std::map<Key, std::map<std::string_view, const ExactRow*>>
      metrics; // by line, if the table has metrics
  for (const ExactRow& row : rows) {
    require_fits(table, row);
    if (table.metrics.empty())
      lines.push_back(line_of(table, row));
    else
      require(metrics[table.line_key(row.key)].emplace(row.key.back(), &row).second,
              fmt::format("row '{}' is there twice", key_text(row)));
  }
  for (const auto& [key, line] : metrics) lines.push_back(line_of(table, key, line));
  return lines;
}

} // namespace kg::judge
