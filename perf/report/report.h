// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A judged run as a folder of files. report.json says everything; the others say the same, or a
// part of it, in another form: report.html (a page that needs nothing else), report.md, and what
// faces.h makes.
#pragma once

#include "perf/judge/gate.h"
#include "perf/judge/result.h"
#include "perf/judge/roof.h"
#include "perf/report/attachments.h"
#include "perf/report/counted.h"

#include <filesystem>
#include <string>

namespace kg::report {

inline constexpr int kReportSchema = 3;

std::string markdown(const judge::Results& run, const judge::GateResult& result,
                     const CountedSections& counted = {}, const Attachments& attachments = {});

// Every row with its verdict and its times, and means over rows; the samples lie in samples.json,
// as `run --json` writes them. `ceilings`: what the device was seen to reach, empty where that is
// not known.
std::string json(const judge::Results& run, const judge::GateResult& result,
                 const judge::Ceilings& ceilings = {}, const CountedSections& counted = {},
                 const Attachments& attachments = {});

// Writes all of them into a folder of this run in `folder`/runs (kept_runs.h), which it returns,
// and then into `folder` itself, which holds the newest: there each file is whole.
std::filesystem::path write(const std::filesystem::path& folder, const judge::Results& run,
                            const judge::GateResult& result, const judge::Ceilings& ceilings = {},
                            const CountedSections& counted = {},
                            const Attachments& attachments = {});

} // namespace kg::report
