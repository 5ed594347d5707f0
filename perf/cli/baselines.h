// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where baselines lie, and judging against them; shared by gate, bless and report.
#pragma once

#include "perf/cli/selection.h"
#include "perf/judge/baseline.h"
#include "perf/judge/device_file.h"
#include "perf/judge/gate.h"
#include "perf/judge/result.h"
#include "runtime/backend.h"

#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace kg::cli {

inline constexpr judge::Device kJudged =
    backend == Backend::host ? judge::Device::host : judge::Device::gpu;

// <baselines>/<device>/<op>.csv of each op of the selection.
std::map<std::string, judge::TimingFile> load_baselines(const std::filesystem::path& baselines,
                                                        const std::string& device,
                                                        const Selection& selection);

// The same of any device: <folder>/<op>.csv, and which of them are missing.
std::map<std::string, judge::TimingFile> load_baselines(const std::filesystem::path& folder,
                                                        judge::Device device,
                                                        const std::set<std::string>& ops);

// The folder's device.json; of a device that is blessed for the first time a new one, in which all
// ops but those with a file are named as not blessed.
judge::DeviceFile device_file(const std::filesystem::path& folder,
                              const std::set<std::string>& ops);

// Throws UsageError where a row is selected that no baseline can have.
void require_listed(const Selection& selection);

// What the judge is told beside the rows: how strict it is to be, and how this machine differs from
// the blessed one. `no_device`: why nothing was measured; empty where something was.
judge::GateOptions gate_options(const Options& options, const Selection& selection,
                                const judge::Results& run, const std::string& no_device);

judge::GateResult judge_run(const Options& options, const Selection& selection,
                            const std::map<std::string, judge::TimingFile>& baselines,
                            const judge::Results& run, const std::string& no_device);

} // namespace kg::cli
