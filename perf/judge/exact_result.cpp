// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/exact_result.h"

#include "perf/judge/row.h"
#include "runtime/error.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace kg::judge {
namespace {

using nlohmann::json;

json to_json(const ExactTable& table, const ExactMeasured& measured) {
  json result = {
      {"gating", name(measured.gating)}, {"site", measured.site}, {"hint", measured.hint}};
  for (std::size_t i = 0; i < table.keys.size(); ++i)
    result[std::string(table.keys[i])] = measured.row.key.at(i);
  for (std::size_t i = 0; i < table.quantities.size(); ++i)
    if (const double value = measured.row.values.at(i); !std::isnan(value))
      result[std::string(table.quantities[i].name)] = value;
  if (table.counted) result["counter_id"] = measured.row.counter_id;
  if (!measured.fault.empty()) result["fault"] = measured.fault;
  if (!measured.hints.empty()) result["hints"] = measured.hints;
  if (!measured.as_blessed.empty()) result["as_blessed"] = measured.as_blessed;
  return result;
}

ExactMeasured to_measured(const ExactTable& table, JsonObject object) {
  ExactMeasured measured;
  measured.gating = object.known("gating", named(object.text("gating"), Gating::never),
                                 "always, same_counter or never");
  measured.site = object.text("site");
  measured.hint = object.text("hint");
  for (const std::string_view key : table.keys)
    measured.row.key.push_back(object.text(std::string(key)));
  for (const Quantity& quantity : table.quantities) {
    const std::string name(quantity.name);
    const bool was_read = !quantity.optional || object.has(name);
    measured.row.values.push_back(was_read ? object.from_zero(name)
                                           : std::numeric_limits<double>::quiet_NaN());
  }
  if (table.counted) measured.row.counter_id = object.text("counter_id");
  if (object.has("fault")) measured.fault = object.text("fault");
  if (object.has("hints")) measured.hints = object.texts("hints");
  if (object.has("as_blessed")) measured.as_blessed = object.text("as_blessed");
  object.done();
  return measured;
}

// NaN, which stands for an unread value, equals NaN.
bool are_equal(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

} // namespace

json to_json(const ExactTable& table, const ExactRows& rows) {
  json list = json::array();
  for (const ExactMeasured& row : rows) list.push_back(to_json(table, row));
  return list;
}

ExactRows exact_rows(const ExactTable& table, JsonObject& object, const std::string& name) {
  ExactRows rows;
  object.each(name, [&](JsonObject row) { rows.push_back(to_measured(table, std::move(row))); });
  return rows;
}

void append(ExactRows& rows, const ExactRows& more) {
  std::map<std::vector<std::string>, std::vector<double>> known;
  for (const ExactMeasured& row : rows) known.emplace(row.row.key, row.row.values);
  for (const ExactMeasured& row : more) {
    const auto [at, is_new] = known.emplace(row.row.key, row.row.values);
    require(are_equal(at->second, row.row.values),
            fmt::format("{}: two files differ in its counts; merge files of one build only",
                        key_text(row.row)));
    if (is_new) rows.push_back(row);
  }
}

} // namespace kg::judge
