// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A judged run in the few lines that end the console output.
#pragma once

#include "perf/judge/gate.h"
#include "perf/judge/result.h"
#include "perf/report/attachments.h"
#include "perf/report/counted.h"

#include <cstddef>
#include <string>

namespace kg::report {

// Failed and unexecuted tests first, each with its command. Then one line each for tests, counts
// and resources, then times, and the verdict last. At most `most` lines per kind, with a reference
// to the rest. A CPU's times take one line, since they are the emulator's.
std::string console_text(const judge::Results& run, const judge::GateResult& result,
                         const CountedSections& counted, const Attachments& attachments,
                         const std::string& page, std::size_t most = 5);

// "timings of the emulator on this CPU (not a GPU's): 56 unchanged, 1 failed, 18 undecided; 12 of
// libraries are informational"
std::string emulated_timings_line(const judge::GateResult& result);

} // namespace kg::report
