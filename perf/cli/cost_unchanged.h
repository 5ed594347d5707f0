// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Costs that need not be counted again, because nothing that determines them has changed
// (perf/code/cost/sources.h).
#pragma once

#include "perf/cli/selection.h"
#include "perf/judge/exact_bless.h"
#include "perf/judge/exact_result.h"

#include <string>
#include <vector>

namespace kg::cli {

// Whether `gate --cost` needs no counts: costs are as blessed, or it only names changed ops.
bool needs_no_counts(const Options& options, const World& world);

// The rows' costs as blessed. Throws Error if an op must be counted.
judge::ExactRows unchanged_costs(const std::vector<const Row*>& rows, const Options& options,
                                 World& world);

// gate --cost --changed: writes each op that must be counted to standard output, and the reasons to
// standard error.
int name_changed_costs(const std::vector<const Row*>& rows, const Options& options, World& world);

// Before blessing costs: throws Error if the program is older than the sources that determine them.
void require_built(const std::string& op, const World& world);

// After blessing: records the op's current state, if the plan blessed all of its rows.
void bless_sources_of(const std::string& op, const judge::ExactBlessPlan& plan,
                      const judge::ExactRows& counted, const Options& options, World& world);

} // namespace kg::cli
