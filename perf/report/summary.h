// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A judged run in few words, as Markdown: for a pull request's comment or a job's summary.
#pragma once

#include "perf/judge/gate.h"
#include "perf/judge/result.h"
#include "perf/report/attachments.h"
#include "perf/report/counted.h"

#include <cstddef>
#include <string>

namespace kg::report {

// What a reader wants first, of summary.md and report.md alike: the first `most` failures, the
// counts by grade and verdict, success rates and speed-ups, how far the timings can be trusted, and
// the first `most` remarks on what did not fail.
std::string opening(const judge::Results& run, const judge::GateResult& result,
                    const CountedSections& counted, const Attachments& attachments,
                    std::size_t most);

// The verdict as a heading, the opening with the worst kMostFirst, then of each kind the worst
// kMostSummaryRows. At most kMostSummary bytes, which GitHub's comments (65,536 characters) leave
// room around.
inline constexpr std::size_t kMostSummary = 60000;
inline constexpr std::size_t kMostFirst = 10;
inline constexpr std::size_t kMostSummaryRows = 20;
std::string summary(const judge::Results& run, const judge::GateResult& result,
                    const CountedSections& counted = {}, const Attachments& attachments = {});

} // namespace kg::report
