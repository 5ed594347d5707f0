// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Failures as workflow commands. GitHub shows them at the affected lines of a pull request
// (docs.github.com, "Workflow commands for GitHub Actions", "Setting an error message").
#pragma once

#include "perf/judge/gate.h"
#include "perf/report/attachments.h"
#include "perf/report/counted.h"

#include <cstddef>
#include <string>

namespace kg::report {

inline constexpr std::size_t kMostAnnotations = 10; // GitHub shows at most 10 per step

// One line for each of the first failures (failures.h) with a place: the assertion of a failed
// test, the kernel's line of a surviving mutant, the line that causes a count, or the header of a
// row's operation.
std::string annotations(const judge::GateResult& result, const CountedSections& counted = {},
                        const Attachments& attachments = {});

} // namespace kg::report
