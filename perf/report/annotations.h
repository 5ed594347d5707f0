// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What failed, as the workflow commands by which GitHub shows it at the lines of a pull request
// (docs.github.com, "Workflow commands for GitHub Actions", "Setting an error message").
#pragma once

#include "perf/judge/gate.h"
#include "perf/report/counted.h"
#include "perf/report/supplements.h"

#include <cstddef>
#include <string>

namespace kg::report {

inline constexpr std::size_t kMostAnnotations = 10; // GitHub shows no more of one step

// One line each: failed tests at their assertion, then bugs that no test finds at the kernel's
// line, then counts at the line that causes them, then slow or invalid rows at their operation's
// header; among these the worst first.
std::string annotations(const judge::GateResult& result, const CountedSections& counted = {},
                        const Supplements& supplements = {});

} // namespace kg::report
