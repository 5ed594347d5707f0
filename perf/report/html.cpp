// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/html.h"

#include "perf/report/page_parts.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

namespace kg::report {
namespace {

// Replaces the first "@<name>@" in the page.
std::string with(std::string page, std::string_view name, std::string_view text) {
  const std::string mark = "@" + std::string(name) + "@";
  return page.replace(page.find(mark), mark.size(), text);
}

// In a script element "</script>" would end the element, and "<!--" would change its parsing. In
// JSON '<' occurs only in strings, where it may be escaped.
std::string for_script(const std::string& json) {
  std::string result;
  for (const char c : json)
    if (c == '<')
      result += "\\u003c";
    else
      result += c;
  return result;
}

// Stores a long list of objects as columns, {"packed": rows, "columns": {member: [values,
// indices]}}: the distinct values of a member, and for each row the index of its value or -1.
// unpacked() in page/format.js reverses it.
nlohmann::json columns_of(const nlohmann::json& rows) {
  struct Column {
    nlohmann::json values = nlohmann::json::array();
    std::vector<std::ptrdiff_t> places;
    std::map<std::string, std::ptrdiff_t> known;
  };
  std::map<std::string, Column> columns;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const auto& [name, value] : rows[i].items()) {
      Column& column = columns[name];
      if (column.places.empty()) column.places.resize(rows.size(), -1);
      const auto next = static_cast<std::ptrdiff_t>(column.values.size());
      const auto [at, is_new] = column.known.emplace(value.dump(), next);
      if (is_new) column.values.push_back(value);
      column.places[i] = at->second;
    }
  nlohmann::json packed = nlohmann::json::object();
  for (auto& [name, column] : columns)
    packed[name] = nlohmann::json::array({std::move(column.values), std::move(column.places)});
  return {{"packed", rows.size()}, {"columns", packed}};
}

// Reports contain tens of thousands of counts that repeat the same cases, variants and verdicts.
nlohmann::json packed(nlohmann::json value) {
  constexpr std::size_t kLong = 50;
  const bool is_list = value.is_array() && value.size() >= kLong;
  if (is_list &&
      std::all_of(value.begin(), value.end(), [](const auto& each) { return each.is_object(); }))
    return columns_of(value);
  if (value.is_structured())
    for (auto& each : value) each = packed(std::move(each));
  return value;
}

} // namespace

// Inserts the report last, since its text may contain anything.
std::string html(const std::string& report) {
  return with(with(with(page::html, "STYLE", page::style), "SCRIPTS", page::scripts), "REPORT",
              for_script(packed(nlohmann::json::parse(report)).dump()));
}

} // namespace kg::report
