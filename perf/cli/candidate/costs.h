// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a candidate asks of a GPU, counted on the executor, beside the least that the operation
// needs and beside ours.
#pragma once

#include "perf/cli/candidate/contract_run.h"
#include "perf/code/resources/compiled.h"
#include "perf/report/sections.h"

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kg::candidate {

// One figure of one case, as perf/code/cost/metrics.h names it.
struct Cost {
  std::string dtype, shape, name;
  double value = 0;
  double least = 0; // 0 where nothing is known
  double ours = 0;  // of our variant that `automatic` takes
  double ours_least = 0;
  std::string variant; // that one
  std::string site, hint;

  // value / least; 1 for what rounding adds, and where nothing is known.
  double times() const;
};

struct Costs {
  std::vector<Cost> all;
  resources::Launches launches;    // the candidate's
  std::vector<std::string> broken; // why it was not counted in a type

  // Where a cost is more than `most` times the least, in words; a line each.
  std::vector<std::string> above(double most) const;
};

// Of the listed shapes and of `shapes`; `library` is instrumented.
Costs count_costs(const Programs& programs, const std::string& op,
                  const std::vector<std::string>& dtypes, const std::vector<std::string>& shapes,
                  const std::filesystem::path& library, const std::filesystem::path& folder);

// A table of what is above the minimum, or above ours where no least is known: each cost once,
// where it is worst, the worst first; then what usually helps. The worst of each cost beside the
// least, as a table; what is wrong, as lines.
report::Section costs_section(const Costs& costs);

nlohmann::json to_json(const Costs& costs);

} // namespace kg::candidate
