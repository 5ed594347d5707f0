// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/verdict_counts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

namespace kg::judge {

void VerdictCounts::add(Verdict verdict, RowExit row) {
  if (!row.informs && verdict == Verdict::regressed && row.code == kExitPass) { // xfail
    ++expected;
    return;
  }
  if (!row.informs || row.code == kExitFail) {
    ++gated[verdict];
    return;
  }
  ++informing;
  if (verdict == Verdict::regressed) ++worse;
}

std::string text(const VerdictCounts& counts) {
  std::vector<std::string> parts;
  for (const Verdict verdict : kVerdicts)
    if (const auto at = counts.gated.find(verdict); at != counts.gated.end())
      parts.push_back(fmt::format("{} {}", at->second, name(verdict)));
  if (counts.expected > 0)
    parts.push_back(
        fmt::format("{} fail{} as expected", counts.expected, counts.expected == 1 ? "s" : ""));
  std::string line = fmt::format("{}", fmt::join(parts, ", "));
  if (counts.informing > 0) {
    if (!line.empty()) line += "; ";
    line += fmt::format("{} informational", counts.informing);
    if (counts.worse > 0) line += fmt::format(" ({} worse)", counts.worse);
  }
  return line.empty() ? "no rows" : line;
}

} // namespace kg::judge
