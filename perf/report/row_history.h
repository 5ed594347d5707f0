// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows over commits, from the SQLite file of `kernelgrade history`, for report.json.
#pragma once

#include "perf/lab/history/database.h"
#include "perf/lab/history/events.h"

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace kg::report {

struct RowHistory {
  history::Series series;
  std::vector<history::Point> points;
  std::vector<history::Event> events; // at these points
};

struct History {
  std::vector<RowHistory> rows;
  std::size_t left_out = 0; // further rows with a history

  bool empty() const { return rows.empty(); }
};

// Rows with the newest change of level first, then those with the newest event, then by name. Keeps
// the first `most`.
History newest_changes_first(std::vector<RowHistory> rows, std::size_t most);

// `runs`, each once. For each row its points as [index into runs, median, low and high end of the
// interval, baseline or 0], in nanoseconds, and the events with the indices of their points.
nlohmann::json to_json(const History& history);

} // namespace kg::report
