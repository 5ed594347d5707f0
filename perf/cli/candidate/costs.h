// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A candidate's costs on a GPU, counted on the executor and compared with the theoretical minimum
// and with our variant.
#pragma once

#include "perf/cli/candidate/contract_run.h"
#include "perf/code/resources/compiled.h"
#include "perf/report/sections.h"

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kg::candidate {

// One metric of one case, named as in perf/code/cost/metrics.h.
struct Cost {
  std::string dtype, shape, name;
  double value = 0;
  double least = 0; // 0 if not known
  double ours = 0;  // of our variant that `automatic` selects
  double ours_least = 0;
  std::string variant; // that variant
  std::string site, hint;

  // value / least; 1 for costs caused by rounding, and if `least` is not known.
  double times() const;
};

struct Costs {
  std::vector<Cost> all;
  resources::Launches launches;    // the candidate's
  std::vector<std::string> broken; // why a type was not counted

  // A line for each cost above `most` times the minimum.
  std::vector<std::string> above(double most) const;
};

// For the listed shapes and `shapes`; `library` is instrumented.
Costs count_costs(const Programs& programs, const std::string& op,
                  const std::vector<std::string>& dtypes, const std::vector<std::string>& shapes,
                  const std::filesystem::path& library, const std::filesystem::path& folder);

// The costs above the minimum, or above ours if no minimum is known: each cost once, at its worst,
// worst first, with the usual remedies. As a table each cost's worst value and the minimum;
// failures as lines.
report::Section costs_section(const Costs& costs);

nlohmann::json to_json(const Costs& costs);

} // namespace kg::candidate
