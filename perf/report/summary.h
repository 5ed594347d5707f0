// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A short Markdown summary of a judged run, for a pull request comment or a job summary.
#pragma once

#include "perf/judge/gate.h"
#include "perf/judge/result.h"
#include "perf/report/attachments.h"
#include "perf/report/counted.h"

#include <cstddef>
#include <string>

namespace kg::report {

// The first part of summary.md and report.md: the first `most` failures, the counts by grade and
// verdict, success rates and speed-ups, the reliability of the timings, and the first `most`
// remarks on rows that did not fail.
std::string opening(const judge::Results& run, const judge::GateResult& result,
                    const CountedSections& counted, const Attachments& attachments,
                    std::size_t most);

// The verdict as heading, the opening with the worst kMostFirst, then the worst kMostSummaryRows of
// each kind. At most kMostSummary bytes, below GitHub's limit of 65,536 characters per comment.
inline constexpr std::size_t kMostSummary = 60000;
inline constexpr std::size_t kMostFirst = 10;
inline constexpr std::size_t kMostSummaryRows = 20;
std::string summary(const judge::Results& run, const judge::GateResult& result,
                    const CountedSections& counted = {}, const Attachments& attachments = {});

} // namespace kg::report
