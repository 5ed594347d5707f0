// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/standing.h"

#include "perf/judge/compare_rows.h"

namespace kg::judge {

std::optional<Standing> standing(const Measured& row, const TimingRow& baseline,
                                 const std::vector<Measured>& run, const TimingFile& file) {
  std::optional<Standing> found;
  double fastest = 0;
  for (const Measured& vendor : run) {
    if (vendor.kind != Kind::vendor || vendor.key.case_id != row.key.case_id ||
        vendor.key.mode != row.key.mode || defect(vendor, Device::gpu) || !vendor.skipped.empty())
      continue;
    for (const TimingRow& blessed : file.rows) {
      if (blessed.key != vendor.key || same_identity(vendor, blessed) != Same::yes) continue;
      if (found && blessed.median_ns >= fastest) continue;
      fastest = blessed.median_ns;
      found = Standing{vendor.key.variant, vendor.median_ns / row.median_ns,
                       blessed.median_ns / baseline.median_ns};
    }
  }
  return found;
}

} // namespace kg::judge
