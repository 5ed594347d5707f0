// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/summary.h"

#include "perf/format/sinks.h"
#include "perf/judge/summary.h"
#include "perf/report/aggregates.h"
#include "perf/report/console_text.h"
#include "perf/report/failures.h"
#include "perf/report/headline.h"
#include "perf/report/rows.h"
#include "perf/report/run_quality.h"

#include <algorithm>
#include <fmt/format.h>

namespace kg::report {
namespace {

using judge::GateResult;
using judge::RowResult;

// Cuts a text at a line end and appends what is missing.
std::string cut(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  const std::size_t end = text.rfind('\n', most) + 1;
  return text.substr(0, end) +
         fmt::format("\n{} more characters are in report.md\n", text.size() - end);
}

// Rows with any result other than a plain pass, failures first.
GateResult noteworthy(const GateResult& result) {
  GateResult worst = result;
  std::erase_if(worst.rows, [](const RowResult& row) {
    return row.exit_code == judge::kExitPass && !row.warning;
  });
  std::stable_partition(worst.rows.begin(), worst.rows.end(),
                        [](const RowResult& row) { return row.exit_code == judge::kExitFail; });
  return worst;
}

} // namespace

std::string opening(const judge::Results& run, const GateResult& result,
                    const CountedSections& counted, const Attachments& attachments,
                    std::size_t most) {
  const std::vector<Failure> failed = failures(result, counted, attachments);
  constexpr std::size_t kSlowest = 5; // if nothing is worse
  const judge::Summary counts = judge::summarise(result, failed.empty() ? kSlowest : 0);
  std::string text = markdown(failed, most);
  const std::string aggregates = aggregates_markdown(run, result, counted, attachments);
  const std::string times = result.rows.empty() ? "" : judge::counts_markdown(counts) + "\n";
  if (!attachments.tests.empty())
    text += judge::for_markdown(checkers_line(attachments.tests)) + "\n\n";
  // A CPU's times come after the results that also hold on a GPU.
  if (device_of(run) == judge::Device::gpu)
    text += times + aggregates;
  else
    text +=
        aggregates + (times.empty() ? "" : "### " + emulated_timings_line(result) + "\n\n" + times);
  if (!run.rows.empty()) text += trust_markdown(run, result);
  return text + judge::worth_knowing_markdown(counts, most);
}

std::string summary(const judge::Results& run, const GateResult& result,
                    const CountedSections& counted, const Attachments& attachments) {
  std::string text = fmt::format("## Kernelgrade: {}\n\n",
                                 judge::for_markdown(headline(run, result, counted, attachments)));
  text += opening(run, result, counted, attachments, kMostFirst);
  GateResult worst = noteworthy(result);
  const std::size_t all = worst.rows.size();
  worst.rows.resize(std::min(all, kMostSummaryRows));
  if (all > 0)
    text += "### Timings that failed or are inconclusive\n\n" +
            judged_table(worst, run.rows, device_of(run)).markdown() + "\n";
  if (all > kMostSummaryRows)
    text += fmt::format("{} more such rows are in report.html.\n\n", all - kMostSummaryRows);
  for (const CountedSection& section : counted) text += markdown(section, kMostSummaryRows);
  text += markdown(attachments, kMostSummaryRows);
  while (text.ends_with("\n\n")) text.pop_back(); // each part ends with an empty line
  return cut(text, kMostSummary);
}

} // namespace kg::report
