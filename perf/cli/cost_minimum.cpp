// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/cost_minimum.h"

#include "perf/cli/cost_model.h"
#include "perf/cli/counted.h"
#include "perf/cli/selection.h"
#include "perf/code/cost/metrics.h"
#include "perf/code/resources/compiled.h"
#include "perf/format/table.h"
#include "perf/judge/exact_table.h"

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

// Results of nvcc's compilation: the maximum over all architectures and a row's kernels.
struct Compiled {
  double spill_bytes = 0;
  double split_accesses = 0;

  void raise(const Compiled& other) {
    spill_bytes = std::max(spill_bytes, other.spill_bytes);
    split_accesses = std::max(split_accesses, other.split_accesses);
  }
};

// By kernel, from the baselines.
std::map<std::string, Compiled> blessed(const Options& options) {
  const std::filesystem::path folder = resource_file(options, "any").parent_path();
  // In the order of judge::resource_table().
  constexpr std::size_t kSpillBytes = 1, kSplitLoads = 7, kSplitStores = 8;
  std::map<std::string, Compiled> found;
  if (!std::filesystem::exists(folder)) return found;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".csv") continue;
    for (const judge::ExactRow& row : judge::load_exact(judge::resource_table(), file.path()).rows)
      found[row.key.front()].raise(
          {row.values.at(kSpillBytes), row.values.at(kSplitLoads) + row.values.at(kSplitStores)});
  }
  return found;
}

// Nothing if a kernel is missing in the baselines.
std::optional<Compiled> compiled(const std::map<std::string, Compiled>& kernels,
                                 const std::string& op,
                                 const std::vector<count::Launch>& launches) {
  Compiled most;
  for (const count::Launch& launch : launches) {
    const auto at = kernels.find(resources::kernel_key(op, launch.kernel));
    if (at == kernels.end()) return std::nullopt;
    most.raise(at->second);
  }
  return most;
}

} // namespace

int profile_minima(const Options& options, World& world) {
  // Compares as_written counts: rounding in a baseline is not an excess.
  constexpr const char* kShown[] = {"sectors_per_request", "unique_sectors",
                                    "bank_conflict_degree"};
  const Selection selection = select(world, options.filters);
  const std::map<std::string, Compiled> kernels = blessed(options);
  judge::TextTable table({"case", "variant", "sectors/request", "least", "unique sectors", "least",
                          "bank conflicts", "least", "spilled bytes", "split accesses",
                          "above the minimum"});
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
      // Fractions of a sector cannot be transferred.
      if (value > minimum && !(metric.name == kShown[1] && value < minimum + 1))
        above.push_back(metric.name);
    }
    const std::optional<Compiled> made = compiled(kernels, row->registered.op, launches);
    cells.push_back(made ? judge::exact_number(made->spill_bytes) : "-");
    cells.push_back(made ? judge::exact_number(made->split_accesses) : "-");
    if (made && made->spill_bytes > 0) above.emplace_back("spilled bytes");
    if (made && made->split_accesses > 0) above.emplace_back("split accesses");
    cells.push_back(above.empty() ? "-" : fmt::format("{}", fmt::join(above, ", ")));
    ++rows;
    least_rows += above.empty();
    table.add(cells);
  }
  world.out << table.plain()
            << fmt::format("{} of {} rows cost the minimum in all of these\n", least_rows, rows);
  return judge::kExitPass;
}

} // namespace kg::cli
