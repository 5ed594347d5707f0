// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/cost_minimum.h"

#include "perf/cli/cost_model.h"
#include "perf/cli/counted.h"
#include "perf/cli/selection.h"
#include "perf/cost/metrics.h"
#include "perf/judge/exact_table.h"
#include "perf/judge/table.h"
#include "perf/resources/compiled.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace kg::cli {
namespace {

// What each kernel spills, the most of all architectures.
std::map<std::string, double> blessed_spills(const Options& options) {
  const std::filesystem::path folder = resource_file(options, "any").parent_path();
  constexpr std::size_t kSpillBytes = 1; // in judge::resource_table()'s order
  std::map<std::string, double> spills;
  if (!std::filesystem::exists(folder)) return spills;
  for (const auto& file : std::filesystem::directory_iterator(folder))
    for (const judge::ExactRow& row :
         judge::load_exact(judge::resource_table(), file.path()).rows) {
      double& most = spills[row.key.front()];
      most = std::max(most, row.values.at(kSpillBytes));
    }
  return spills;
}

// None where one of the kernels is not in the baselines.
std::optional<double> spilled(const std::map<std::string, double>& spills, const std::string& op,
                              const std::vector<count::Launch>& launches) {
  double most = 0;
  for (const count::Launch& launch : launches) {
    const auto at = spills.find(resources::kernel_key(op, launch.kernel));
    if (at == spills.end()) return std::nullopt;
    most = std::max(most, at->second);
  }
  return most;
}

} // namespace

int profile_minima(const Options& options, World& world) {
  // Graded counts are as_written: what a baseline rounds is no excess.
  constexpr const char* kShown[] = {"sectors_per_request", "unique_sectors",
                                    "bank_conflict_degree"};
  const Selection selection = select(world, options.filters);
  const std::map<std::string, double> spills = blessed_spills(options);
  judge::TextTable table({"case", "variant", "sectors/request", "least", "unique sectors", "least",
                          "bank conflicts", "least", "spilled bytes", "above the least"});
  std::size_t rows = 0, least_rows = 0;
  for (const Row* row : countable(world, selection)) {
    const std::vector<count::Launch> launches = count_launches(*row, world);
    std::vector<std::string> cells = {row->registered.key.case_id, row->registered.key.variant};
    std::vector<std::string> above;
    for (const cost::Metric& metric : cost::metrics(launches, row->work)) {
      if (std::find(std::begin(kShown), std::end(kShown), metric.name) == std::end(kShown))
        continue;
      const double value = judge::as_written(metric.value);
      const double minimum = judge::as_written(metric.minimum);
      cells.push_back(judge::exact_number(value));
      cells.push_back(judge::exact_number(minimum));
      // No fraction of a sector can be moved.
      if (value > minimum && !(metric.name == kShown[1] && value < minimum + 1))
        above.push_back(metric.name);
    }
    const std::optional<double> bytes = spilled(spills, row->registered.op, launches);
    cells.push_back(bytes ? judge::exact_number(*bytes) : "-");
    if (bytes.value_or(0) > 0) above.emplace_back("spilled bytes");
    cells.push_back(above.empty() ? "-" : fmt::format("{}", fmt::join(above, ", ")));
    ++rows;
    least_rows += above.empty();
    table.add(cells);
  }
  world.out << table.plain()
            << fmt::format("{} of {} rows cost the least in all of these\n", least_rows, rows);
  return judge::kExitPass;
}

} // namespace kg::cli
