// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where baselines are stored, and judging against them; shared by gate, bless and report.
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

// <baselines>/<device>/<op>.csv for each op of the selection.
std::map<std::string, judge::TimingFile> load_baselines(const std::filesystem::path& baselines,
                                                        const std::string& device,
                                                        const Selection& selection);

// The same for any device: <folder>/<op>.csv, including the ops whose file is missing.
std::map<std::string, judge::TimingFile> load_baselines(const std::filesystem::path& folder,
                                                        judge::Device device,
                                                        const std::set<std::string>& ops);

// The folder's device.json. For a device that is blessed for the first time, a new one that lists
// all ops without a file as not blessed.
judge::DeviceFile device_file(const std::filesystem::path& folder,
                              const std::set<std::string>& ops);

// Throws UsageError if a selected row cannot have a baseline.
void require_listed(const Selection& selection);

// The judge's other inputs: its strictness, and how this machine differs from the blessed one.
// `no_device`: why nothing was measured; empty if something was.
judge::GateOptions gate_options(const Options& options, const Selection& selection,
                                const judge::Results& run, const std::string& no_device);

judge::GateResult judge_run(const Options& options, const Selection& selection,
                            const std::map<std::string, judge::TimingFile>& baselines,
                            const judge::Results& run, const std::string& no_device);

} // namespace kg::cli
