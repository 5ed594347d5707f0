// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade compare --model MEASURED.json: compares modelled with measured GPU times. The rows
// are counted here, in kernelgrade-cost.
#include "perf/cli/commands.h"
#include "perf/cli/cost_model.h"
#include "perf/cli/stored_runs.h"
#include "perf/code/timing_model/agreement.h"

#include <fmt/format.h>
#include <map>
#include <ostream>
#include <utility>

namespace kg::cli {
namespace {

// The rows that the model covers: our kernels with cold caches.
bool comparable(const judge::Measured& row) {
  return row.kind == judge::Kind::ours && row.key.mode == judge::Mode::cold &&
         row.verified.empty() && row.skipped.empty() && row.median_ns > 0;
}

} // namespace

int compare_model(const Options& options, World& world) {
  const judge::Results run = load_runs({options.compare.model});
  const auto device = run.environment.find("device");
  if (device == run.environment.end())
    throw Error(options.compare.model.string() + " does not say on what device it was measured");
  const CostModel model(world, device->second);

  std::map<std::pair<std::string, std::string>, double> measured_s; // by case and variant
  std::vector<Filter> filters;
  for (const judge::Measured& row : run.rows) {
    if (!comparable(row)) continue;
    measured_s[{row.key.case_id, row.key.variant}] = 1e-9 * row.median_ns;
    filters.push_back(filter_of(row));
  }
  std::vector<double> modelled, measured;
  if (!filters.empty()) {
    const Selection selection = select(world, filters);
    for (const Row* row : countable(world, selection)) {
      const auto& key = row->registered.key;
      const auto found = measured_s.find({key.case_id, key.variant});
      if (found == measured_s.end()) continue; // another variant of the same case
      const std::optional<double> seconds = model.seconds(*row, count_launches(*row, world));
      if (!seconds) continue; // it was measured, so its launch was a different one
      modelled.push_back(*seconds);
      measured.push_back(found->second);
    }
  }
  world.out << fmt::format("model against {}, {}, cold rows of this suite's kernels\n{}",
                           options.compare.model.string(), device->second,
                           text(model::agreement(modelled, measured)));
  return judge::kExitPass;
}

} // namespace kg::cli
