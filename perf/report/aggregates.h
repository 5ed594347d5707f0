// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Summarizes a judged run in a few numbers: success rates and speed-ups. Each number is shown with
// its population.
#pragma once

#include "perf/judge/gate.h"
#include "perf/judge/result.h"
#include "perf/report/attachments.h"
#include "perf/report/counted.h"

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kg::report {

// Removes ratio and grade of our rows whose correctness tests fail for their operation and type,
// and says so in the message. A wrong result has no speed-up.
void discredit_wrong(judge::GateResult& result, const Attachments& attachments);

// Counts for one kind of check. Skipped checks are not judged.
struct Success {
  std::string
      what; // "timings of Kernelgrade", "correctness tests", "mutants", a section, a comparison
  std::size_t passed = 0;
  std::size_t failed = 0;
  std::size_t skipped = 0;
};
// Omits kinds that the run does not contain.
std::vector<Success> successes(const judge::GateResult& result, const CountedSections& counted,
                               const Attachments& attachments);

// "99.9 %" of the judged checks, rounded down, so that 100 % means all. "-" if nothing was judged.
std::string rate_text(const Success& success);

// How many times as fast our rows are as a reference. Wrong, crashed and unmeasured rows have no
// ratio and do not enter the mean; `of` includes them.
struct SpeedUp {
  std::string over; // "the baselines", "the fastest vendor"
  std::size_t of = 0;
  std::size_t rows = 0;    // with a ratio
  std::size_t reached = 0; // rows that are at least as fast
  // Of these ratios; 0 if there are none.
  double geomean = 0;
  double median = 0;
  double least = 0;
  double greatest = 0;
};
SpeedUp over_baselines(const judge::GateResult& result);
// GPU only. No row counts on the host, where the emulator's overhead would be attributed to the
// kernel.
SpeedUp over_vendor(const judge::Results& run, const judge::GateResult& result,
                    const Attachments& attachments);

// Success rates and speed-ups as tables, with an explanation of the mean.
std::string aggregates_markdown(const judge::Results& run, const judge::GateResult& result,
                                const CountedSections& counted, const Attachments& attachments);

nlohmann::json to_json(const Success& success);

} // namespace kg::report
