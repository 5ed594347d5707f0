// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares counted rows with baselines; shared by gate --cost, bless --cost, resources and report.
#pragma once

#include "perf/cli/selection.h"
#include "perf/judge/exact_gate.h"
#include "perf/judge/exact_result.h"
#include "perf/judge/result.h"
#include "perf/report/counted.h"

#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace kg::cli {

std::map<std::string, judge::ExactRows> by_op(const judge::ExactRows& costs);

// <baselines>/simt/<op>.csv
std::filesystem::path cost_file(const Options& options, const std::string& op);
// <baselines>/simt/sources/counted.csv
std::filesystem::path counted_file(const Options& options);
// <baselines>/resources/<name>.csv; `name` is an architecture and a toolkit.
std::filesystem::path resource_file(const Options& options, const std::string& name);
// <baselines>/resources/sources/<name>.csv
std::filesystem::path sources_file(const Options& options, const std::string& name);

// The rows of a file that a run with these rows should have counted: all rows of their types, or
// for a `partial` run, which selected within types, only those of its cases and variants.
judge::Covers cost_covers(const judge::ExactRows& costs, bool partial);

// All rows of the ops.
judge::Covers resource_covers(const std::set<std::string>& ops);

// Rows of one op.
judge::ExactResult judge_costs(const Options& options, const std::string& op,
                               const judge::ExactRows& costs, bool partial);

// All rows of the ops as compiled for `name`.
judge::ExactResult judge_resources(const Options& options, const std::string& name,
                                   const judge::ExactRows& rows, const std::set<std::string>& ops);

// Judges a stored run's counts again. If it has costs (resources) at all, each selected variant of
// ours (each op) must have some: a crashed test must not go unnoticed. `unread` are the operations
// whose resources could not be read, according to the tests.
report::CountedSections judge_counted(const Options& options, const Selection& selection,
                                      const judge::Results& run,
                                      const std::set<std::string>& unread);

} // namespace kg::cli
