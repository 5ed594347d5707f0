// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the gate says about a row, in one place: what was seen, what follows, and how to see it
// again.
#pragma once

#include "perf/judge/compare_rows.h"
#include "perf/judge/gate.h"

#include <map>
#include <string>
#include <string_view>

namespace kg::judge {

// What is known of a row before it is judged.
RowResult result_for(const Registered& row);
RowResult result_for(const Measured& row);

// The figures that every compared row shows behind its ratio, whatever its verdict: times, samples,
// the slow-down that would have been found, canary, machine code, share of the roof, clocks and the
// like. `row` has its times already.
std::string figures(const RowResult& row, const Measured& measured, const TimingRow& baseline,
                    const Comparison& comparison, double detectable_pct,
                    const GateOptions& options);

// "sm_mhz 1980, power_w 350": those of the tags that describe the machine; empty where none does.
std::string machine_text(const std::map<std::string, std::string>& tags);

// Gives the row its verdict, its usual exit code, its grade and its message. An undecided row shows
// its ratio, but has no grade: that would decide what the verdict does not. `command` measures it
// again, or is "bless" where that is the fix.
void conclude(RowResult& row, Verdict verdict, const std::string& words,
              std::string_view command = "gate");

} // namespace kg::judge
