// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/standing.h"

#include "perf/judge/compare_rows.h"
#include "perf/judge/peers.h"

#include <fmt/format.h>
#include <utility>

namespace kg::judge {

std::string text(const Standing& standing) {
  std::string line = fmt::format("{:.2f} of {}'s speed ({:.2f} when blessed)", standing.now,
                                 standing.vendor, standing.then);
  if (!standing.other_library.empty())
    line += fmt::format(", which is not judged: {}", standing.other_library);
  return line;
}

std::optional<Standing> standing(const Measured& row, const TimingRow& baseline,
                                 const std::vector<Measured>& run, const TimingFile& file) {
  std::optional<Standing> found;
  std::pair<bool, double> best; // another library, its blessed time: the least counts
  for (const Measured& vendor : run) {
    if (!is_library(vendor) || vendor.key.case_id != row.key.case_id ||
        vendor.key.mode != row.key.mode || defect(vendor, Device::gpu) || !vendor.skipped.empty())
      continue;
    for (const TimingRow& blessed : file.rows) {
      if (blessed.key != vendor.key) continue;
      const Same library = same_identity(vendor, blessed);
      const std::pair<bool, double> rank = {library == Same::no, blessed.median_ns};
      if (library == Same::unknown || (found && rank >= best)) continue;
      best = rank;
      found = Standing{vendor.key.variant, vendor.median_ns / row.median_ns,
                       blessed.median_ns / baseline.median_ns, ""};
      if (library == Same::no)
        found->other_library =
            fmt::format("{} blessed, {} here", blessed.identity, vendor.identity);
    }
  }
  return found;
}

} // namespace kg::judge
