// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A judged run in the forms that other programs read.
#pragma once

#include "perf/judge/gate.h"
#include "perf/judge/result.h"
#include "perf/report/attachments.h"
#include "perf/report/counted.h"

#include <string>

namespace kg::report {

// One record per row, in the order judged: what report.json says of it, in columns. Behind the
// timed rows those of counted.h.
std::string rows_csv(const judge::Results& run, const judge::GateResult& result,
                     const CountedSections& counted = {});

// JUnit's XML as CI systems read it: a test case per row, correctness test, mutant, compared row
// and experiment, its numbers as properties, its message with the command that runs it again as
// failure or skip; faults of the run as test cases.
std::string junit_xml(const judge::Results& run, const judge::GateResult& result,
                      const CountedSections& counted = {}, const Attachments& attachments = {});

// For shields.io's "endpoint" badge (https://shields.io/badges/endpoint-badge).
// Counts CTest's tests where the report was told of them, else rows.
std::string badge_json(const judge::GateResult& result, const CountedSections& counted = {},
                       const Attachments& attachments = {});

} // namespace kg::report
