// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Exports a judged run for other programs.
#pragma once

#include "perf/judge/gate.h"
#include "perf/judge/result.h"
#include "perf/report/attachments.h"
#include "perf/report/counted.h"

#include <string>

namespace kg::report {

// One record per row, in the order judged: the data of report.json in columns. After the timed
// rows, the records of counted.h.
std::string rows_csv(const judge::Results& run, const judge::GateResult& result,
                     const CountedSections& counted = {});

// JUnit XML for CI systems. Test cases are rows, correctness tests, mutants, compared rows,
// experiments, and faults of the run. Numbers become properties; a message with the command that
// repeats the test becomes a failure or skip.
std::string junit_xml(const judge::Results& run, const judge::GateResult& result,
                      const CountedSections& counted = {}, const Attachments& attachments = {});

// For shields.io's "endpoint" badge (https://shields.io/badges/endpoint-badge). Counts CTest's
// tests if known, otherwise rows.
std::string badge_json(const judge::GateResult& result, const CountedSections& counted = {},
                       const Attachments& attachments = {});

} // namespace kg::report
