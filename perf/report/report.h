// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A judged run as files for people (report.md) and programs (report.json).
#pragma once

#include "perf/judge/gate.h"
#include "perf/judge/result.h"

#include <filesystem>
#include <string>

namespace kg::report {

inline constexpr int kReportSchema = 1;

std::string markdown(const judge::Results& run, const judge::GateResult& result);

// Every row with its verdict and its times; the samples lie in samples.json, as `run --json` writes
// them.
std::string json(const judge::Results& run, const judge::GateResult& result);

// Writes report.md, report.json and samples.json into `folder`, each whole or not at all.
void write(const std::filesystem::path& folder, const judge::Results& run,
           const judge::GateResult& result);

} // namespace kg::report
