// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/row_history.h"

#include "perf/lab/history/database.h"
#include "perf/lab/history/events.h"
#include "runtime/error.h"

#include <fmt/format.h>
#include <set>

namespace kg::cli {
namespace {

// The limit of a page: some 10 bytes per number.
constexpr std::size_t kMostRows = 200;
constexpr std::size_t kMostRuns = 200; // the newest runs

} // namespace

report::History row_history(const std::filesystem::path& file, const std::string& device,
                            const std::vector<judge::RowResult>& rows) {
  require(std::filesystem::exists(file),
          fmt::format("--history {}: no such file; make it by `kernelgrade history import`",
                      file.string()));
  std::set<judge::RowKey> wanted;
  for (const judge::RowResult& row : rows) wanted.insert(row.key);
  const history::Database database(file);
  std::vector<report::RowHistory> found;
  for (const history::Series& series : database.series("", "")) {
    const auto mode = judge::mode_named(series.mode);
    if (series.device != device || !mode ||
        !wanted.contains({series.case_id, series.variant, *mode}))
      continue;
    std::vector<history::Point> points = database.points(series);
    if (points.size() > kMostRuns)
      points.erase(points.begin(), points.end() - static_cast<std::ptrdiff_t>(kMostRuns));
    std::vector<history::Event> events = history::events(points);
    found.push_back({series, std::move(points), std::move(events)});
  }
  return report::newest_changes_first(std::move(found), kMostRows);
}

} // namespace kg::cli
