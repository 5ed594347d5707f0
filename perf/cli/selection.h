// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The rows that the operations offer, and which of them the filters choose.
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
  Kind canary = Kind::memory;
  Work work;
  bool tf32 = false;                 // as in judge::Measured
  std::string automatic;             // perf::Case's
  bool in_turns = false;             // likewise
  std::string note;                  // perf::Variant's
  bool compiled_at_run_time = false; // likewise
  std::function<perf::Workload()> make;
};

struct Selection {
  std::vector<Row> rows; // all rows of every operation that has a selected one, and of those named
  std::set<std::string> ops; // those operations
  bool partial = false;      // some filter chooses within an op and dtype
  std::size_t selected = 0;
  std::vector<std::string> untimed;  // unlisted cases whose variants all take too long here
  std::optional<judge::Shard> shard; // none: all of it
};

// Throws UsageError for a word that names nothing anywhere, or a shape that its operation does not
// take.
Selection select(const World& world, const std::vector<Filter>& filters);

// The selected rows, of each case and variant one: modes time the same work in different ways.
std::vector<const Row*> each_row_once(const Selection& selection);

// What chooses a measured row and no other.
Filter filter_of(const judge::Measured& row);

// Why nothing is selected, though every word of the filters names something, and what there is.
std::string nothing_selected(const World& world);

// Names what is left out because no variant of it is timed on this backend.
void say_untimed(const World& world, const Selection& selection);

// The registered parts, as the judge wants them.
std::vector<judge::Registered> registered(const Selection& selection);

} // namespace kg::cli
