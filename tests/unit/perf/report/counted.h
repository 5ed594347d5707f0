// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Judged counts with a row of each kind.
#pragma once

#include "perf/report/counted.h"

#include <string>
#include <utility>

namespace kg::report::test {

// Five costs (lost, worse, better, as blessed far from its minimum and at it), and a kernel that
// spills.
inline CountedSections counted() {
  judge::ExactFile blessed{"copy.csv", true, {}, {}}, kernels{"sm_80-cuda13.0.csv", true, {}, {}};
  CountedSection costs{&judge::cost_table(), "costs", {}, {}};
  const auto add = [&](const char* metric, double before, double now, double minimum) {
    judge::ExactRow row{{"copy.f32.n64", "plain", metric}, {before, minimum}, "", "first", 2};
    blessed.rows.push_back(row);
    row.values[0] = now;
    costs.measured.push_back({row, judge::Gating::always, "kernels/ops/copy/copy.cu:12",
                              now > before ? "misaligned read" : ""});
  };
  add("barriers", 12, 12, 4);
  add("collectives", 8, 7, 0);
  add("sectors", 80, 80, 80);
  add("sectors_per_request", 4, 4.1, 4);
  add("unique_sectors", 80, 0, 80);
  costs.result = judge::judge_exact(judge::cost_table(), costs.measured, blessed, {}, {});

  CountedSection resources{&judge::resource_table(), "sm_80-cuda13.0", {}, {}};
  judge::ExactRow kernel{
      {"copy.plain"}, {64, 0, 0, 2048, 0, 256, 50, 0, 0, 16, 100, 0, 0, 0}, "", "first", 2};
  kernels.rows.push_back(kernel);
  kernel.values[1] = 16;
  resources.measured = {{kernel, judge::Gating::always, "kernels/ops/copy/copy.cu:8", ""}};
  resources.result =
      judge::judge_exact(judge::resource_table(), resources.measured, kernels, {}, {});
  return {costs, resources};
}

} // namespace kg::report::test
