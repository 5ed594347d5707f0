// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Summarizes a run in one sentence.
#pragma once

#include "perf/judge/gate.h"
#include "perf/judge/result.h"
#include "perf/report/attachments.h"
#include "perf/report/counted.h"

#include <string>

namespace kg::report {

// "passed: 35 operations correct; costs and resources match the baselines; 60 of 75 timings
// inconclusive (they do not count on a CPU)". Failures come first, by name: "FAILED: cost.axpy not
// run, and 2 more; ...". `result` has the exit code of all parts of the run.
std::string headline(const judge::Results& run, const judge::GateResult& result,
                     const CountedSections& counted, const Attachments& attachments);

} // namespace kg::report
