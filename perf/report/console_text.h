// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A judged run in the few lines that end a console.
#pragma once

#include "perf/judge/gate.h"
#include "perf/judge/result.h"
#include "perf/report/attachments.h"
#include "perf/report/counted.h"

#include <cstddef>
#include <string>

namespace kg::report {

// What failed or did not run first, each with its command; then a line for the tests, the counts
// and the resources; then the times; and the verdict last. Of each kind at most `most` lines, and
// where the rest is. The times of a CPU are one line: they are the executor's own.
std::string console_text(const judge::Results& run, const judge::GateResult& result,
                         const CountedSections& counted, const Attachments& attachments,
                         const std::string& page, std::size_t most = 5);

// "timings of the executor on this CPU (no GPU's): 56 as blessed, 1 slower, 18 undecided; of
// vendors 12"
std::string emulated_timings_line(const judge::GateResult& result);

} // namespace kg::report
