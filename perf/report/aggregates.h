// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A judged run in few numbers: how much of it succeeds and how fast it is. Each number stands
// beside what it is of.
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

// Takes ratio and grade from our rows whose operation has failed correctness tests of their type,
// and says so in their messages: a time for a wrong result is no speed-up.
void discredit_wrong(judge::GateResult& result, const Attachments& attachments);

// Of one kind of check. What was skipped was not judged.
struct Success {
  std::string
      what; // "timings of Kernelgrade", "correctness tests", "mutants", a section, a comparison
  std::size_t passed = 0;
  std::size_t failed = 0;
  std::size_t skipped = 0;
};
// A kind that the run has nothing of is left out.
std::vector<Success> successes(const judge::GateResult& result, const CountedSections& counted,
                               const Attachments& attachments);

// "99.9 %" of what was judged: rounded down, so that 100 % is all of it. "-" where nothing was.
std::string rate_text(const Success& success);

// How many times as fast our rows are as something else. Rows that are wrong, crashed or were not
// measured have no ratio, and so no part in the mean; `of` counts them.
struct SpeedUp {
  std::string over; // "the baselines", "the fastest vendor"
  std::size_t of = 0;
  std::size_t rows = 0;    // with a ratio
  std::size_t reached = 0; // of them at least as fast
  // Of these ratios; 0 where there are none.
  double geomean = 0;
  double median = 0;
  double least = 0;
  double greatest = 0;
};
SpeedUp over_baselines(const judge::GateResult& result);
// On a GPU; on the host the executor's overhead would be held against the kernel, and no row
// counts.
SpeedUp over_vendor(const judge::Results& run, const judge::GateResult& result,
                    const Attachments& attachments);

// Both kinds of numbers as tables, and what the mean is.
std::string aggregates_markdown(const judge::Results& run, const judge::GateResult& result,
                                const CountedSections& counted, const Attachments& attachments);

nlohmann::json to_json(const Success& success);

} // namespace kg::report
