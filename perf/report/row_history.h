// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows over commits, as a part of report.json: from the SQLite file of `kernelgrade history`.
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
  std::vector<history::Event> events; // of these points
};

struct History {
  std::vector<RowHistory> rows;
  std::size_t left_out = 0; // rows that have one, beyond those

  bool empty() const { return rows.empty(); }
};

// Those with the newest change of level first, then those with the newest event, then by name; of
// these the first `most`.
History newest_changes_first(std::vector<RowHistory> rows, std::size_t most);

// `runs`, each once, and for each row its points as [place in runs, median, interval's low and high
// end, baseline or 0], in nanoseconds, with the events at places among them.
nlohmann::json to_json(const History& history);

} // namespace kg::report
