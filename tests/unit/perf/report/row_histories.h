// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two rows of `mixed` over 200 commits: in one three changes of level are planted, in the other
// none.
#pragma once

#include "perf/report/attachments.h"
#include "tests/unit/perf/lab/history/planted.h"

#include <string>
#include <vector>

namespace kg::report::test {

inline RowHistory row_history(const std::string& case_id, const std::vector<double>& times) {
  const std::vector<history::Point> points = history::test::runs(times);
  return {{case_id, "ours", "real", "nvidia-h200"}, points, history::events(points)};
}

inline Attachments histories() {
  using history::test::series;
  Attachments all;
  all.history = newest_changes_first(
      {row_history("copy.f32.n128", series(200, {}, 0.01, 1.2, 2)),
       row_history("copy.f32.n64",
                   series(200, {{60, 1.10}, {120, 1.25}, {160, 0.9}}, 0.01, 1.2, 1))},
      2);
  return all;
}

} // namespace kg::report::test
