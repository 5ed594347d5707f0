// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How reliable a run's times are: the machine, the repetitions, the stability.
#pragma once

#include "perf/judge/gate.h"
#include "perf/judge/result.h"

#include <string>
#include <utility>
#include <vector>

namespace kg::report {

// Names with values, in display order. Unknown facts are omitted or marked as unknown.
std::vector<std::pair<std::string, std::string>> trust_facts(const judge::Results& run,
                                                             const judge::GateResult& result);

// The same as a section with a table.
std::string trust_markdown(const judge::Results& run, const judge::GateResult& result);

} // namespace kg::report
