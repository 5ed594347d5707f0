// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What failed, as the workflow commands by which GitHub shows it at the lines of a pull request
// (docs.github.com, "Workflow commands for GitHub Actions", "Setting an error message").
#pragma once

#include "perf/judge/gate.h"
#include "perf/report/attachments.h"
#include "perf/report/counted.h"

#include <cstddef>
#include <string>

namespace kg::report {

inline constexpr std::size_t kMostAnnotations = 10; // GitHub shows no more of one step

// A line for each of the first failures (failures.h) that have a place: a failed test its
// assertion, a bug that no test finds the kernel's line, a count the line that causes it, a row its
// operation's header.
std::string annotations(const judge::GateResult& result, const CountedSections& counted = {},
                        const Attachments& attachments = {});

} // namespace kg::report
