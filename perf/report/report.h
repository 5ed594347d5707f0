// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes a judged run as a folder of files. report.json is complete. The other files hold all or
// parts of it in other forms: report.html (a self-contained page), report.md, and those of
// exporters.h and annotations.h.
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

// Every row with verdict and times, and means over rows. samples.json holds the samples, in the
// format of `run --json`. `ceilings`: the device's measured ceilings, empty if unknown.
std::string json(const judge::Results& run, const judge::GateResult& result,
                 const judge::Ceilings& ceilings = {}, const CountedSections& counted = {},
                 const Attachments& attachments = {});

// Writes all files into a new folder in `folder`/runs (kept_runs.h), and copies them atomically to
// `folder`, which holds the newest run. Returns the new folder.
std::filesystem::path write(const std::filesystem::path& folder, const judge::Results& run,
                            const judge::GateResult& result, const judge::Ceilings& ceilings = {},
                            const CountedSections& counted = {},
                            const Attachments& attachments = {});

} // namespace kg::report
