// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Costs that need not be counted again, since nothing has changed that decides them
// (perf/code/cost/sources.h).
#pragma once

#include "perf/cli/selection.h"
#include "perf/judge/exact_bless.h"
#include "perf/judge/exact_result.h"

#include <string>
#include <vector>

namespace kg::cli {

// Whether `gate --cost` can do without counting: by what is blessed, or to name what has changed.
bool needs_no_counts(const Options& options, const World& world);

// Those of the rows as they were blessed. Throws Error where an op must be counted.
judge::ExactRows unchanged_costs(const std::vector<const Row*>& rows, const Options& options,
                                 World& world);

// gate --cost --changed: the ops that must be counted go to the output, a line each, and to the
// errors why.
int name_changed_costs(const std::vector<const Row*>& rows, const Options& options, World& world);

// Before costs are blessed: throws Error where the program is older than what decides them.
void require_built(const std::string& op, const World& world);

// Once they are: from then on the op is as it is now, if the plan blessed all of its rows.
void bless_sources_of(const std::string& op, const judge::ExactBlessPlan& plan,
                      const judge::ExactRows& counted, const Options& options, World& world);

} // namespace kg::cli
