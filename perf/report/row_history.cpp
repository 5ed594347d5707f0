// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/row_history.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>

namespace kg::report {
namespace {

using history::Event;
using history::Point;
// The dates of the last change of level and of the last event; empty if none.
std::pair<std::string, std::string> last_changes(const RowHistory& row) {
  std::pair<std::string, std::string> last;
  for (const Event& event : row.events) {
    last.second = row.points[event.at].date_utc;
    if (event.kind == Event::Kind::slower || event.kind == Event::Kind::faster)
      last.first = last.second;
  }
  return last;
}

auto name(const RowHistory& row) {
  return std::tie(row.series.case_id, row.series.variant, row.series.mode);
}

nlohmann::json event_json(const Event& event) {
  return {{"at", event.at}, {"kind", history::name(event.kind)}, {"text", event.text}};
}

} // namespace

History newest_changes_first(std::vector<RowHistory> rows, std::size_t most) {
  std::sort(rows.begin(), rows.end(), [](const RowHistory& a, const RowHistory& b) {
    const auto [level_a, any_a] = last_changes(a);
    const auto [level_b, any_b] = last_changes(b);
    if (level_a != level_b) return level_a > level_b;
    return any_a != any_b ? any_a > any_b : name(a) < name(b);
  });
  const std::size_t left_out = rows.size() - std::min(rows.size(), most);
  rows.resize(rows.size() - left_out);
  return {std::move(rows), left_out};
}

nlohmann::json to_json(const History& history) {
  std::map<std::pair<std::string, std::string>, std::size_t> places; // by date and commit
  for (const RowHistory& row : history.rows)
    for (const Point& point : row.points) places.try_emplace({point.date_utc, point.source});
  nlohmann::json runs = nlohmann::json::array(), rows = nlohmann::json::array();
  for (auto& [run, place] : places) {
    place = runs.size();
    runs.push_back({{"date_utc", run.first}, {"source", run.second}});
  }
  for (const RowHistory& row : history.rows) {
    nlohmann::json points = nlohmann::json::array(), events = nlohmann::json::array();
    for (const Point& point : row.points)
      points.push_back({places.at({point.date_utc, point.source}), point.median_ns, point.ci_lo_ns,
                        point.ci_hi_ns, point.baseline_ns});
    for (const Event& event : row.events) events.push_back(event_json(event));
    rows.push_back({{"case", row.series.case_id},
                    {"variant", row.series.variant},
                    {"mode", row.series.mode},
                    {"device", row.series.device},
                    {"points", points},
                    {"events", events}});
  }
  return {{"runs", runs}, {"rows", rows}, {"left_out", history.left_out}};
}

} // namespace kg::report
