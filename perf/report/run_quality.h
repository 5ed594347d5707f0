// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How far a run's times can be believed, for people: on which machine, how often, how steadily.
#pragma once

#include "perf/judge/gate.h"
#include "perf/judge/result.h"

#include <string>
#include <utility>
#include <vector>

namespace kg::report {

// Names with values, in the order to show. What the run does not know is left out or said so.
std::vector<std::pair<std::string, std::string>> trust_facts(const judge::Results& run,
                                                             const judge::GateResult& result);

// The same as a section with a table.
std::string trust_markdown(const judge::Results& run, const judge::GateResult& result);

} // namespace kg::report
