// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The rows that the operations offer, and those that the filters select.
#pragma once

#include "perf/cli/options.h"
#include "perf/cli/world.h"
#include "perf/judge/gate.h"
#include "perf/judge/result.h"
#include "perf/measure/suite.h"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kg::cli {

struct Row {
  judge::Registered registered;
  bool fast = false;
  bool listed = true; // otherwise ad hoc: measured, never gated
  Bound canary = Bound::memory;
  Work work;
  bool tf32 = false;                 // from perf::Case
  std::string automatic;             // from perf::Case
  bool interleaved = false;          // from perf::Case
  std::string note;                  // from perf::Variant
  bool compiled_at_run_time = false; // from perf::Variant
  std::function<perf::Workload()> make;
};

struct Selection {
  std::vector<Row> rows; // all rows of operations with a selected row, and rows named explicitly
  std::set<std::string> ops; // the operations with a selected row
  bool partial = false;      // some filter selects within an op and dtype
  std::size_t selected = 0;
  std::vector<std::string> untimed;  // unlisted cases whose variants all take too long here
  std::optional<judge::Shard> shard; // none: the complete selection
};

// Throws UsageError for a word that matches nothing, or a shape that its operation does not accept.
Selection select(const World& world, const std::vector<Filter>& filters);

// One selected row per case and variant: modes time the same work in different ways.
std::vector<const Row*> each_row_once(const Selection& selection);

// A filter that selects exactly this measured row.
Filter filter_of(const judge::Measured& row);

// Why nothing is selected although every filter word exists, and what could be selected.
std::string nothing_selected(const World& world);

// Lists the cases left out because none of their variants is timed on this backend.
void say_untimed(const World& world, const Selection& selection);

// The registered parts, in the judge's format.
std::vector<judge::Registered> registered(const Selection& selection);

} // namespace kg::cli
