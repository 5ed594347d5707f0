// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade compare --hardware NCU.csv...: the executor's counts and the hardware counters of the
// same launches. The rows are those of `run --once --json`, in a file of the same name that ends in
// .json; they are counted here, in kernelgrade-cost.
#include "perf/cli/commands.h"
#include "perf/cli/cost_model.h"
#include "perf/cli/run_once.h"
#include "perf/cli/stored_runs.h"
#include "perf/code/ncu/agreement.h"
#include "perf/format/table.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <ostream>

namespace kg::cli {
namespace {

struct Tally {
  std::size_t equal = 0, compared = 0, rows = 0, other_launches = 0;
};

std::size_t launches_of(const judge::Measured& row, const std::string& file) {
  const auto found = row.tags.find(kLaunchesTag);
  require(found != row.tags.end(),
          fmt::format("{}: {} does not say how many launches it made; write the file with "
                      "kernelgrade run --once --json",
                      file, judge::text(row.key)));
  return std::strtoul(found->second.c_str(), nullptr, 10);
}

// One line per quantity that differs.
void compare_row(const judge::Measured& row, std::span<const hardware::Launch> measured,
                 World& world, judge::TextTable& table, Tally& tally) {
  const std::string name = row.key.case_id + " " + row.key.variant;
  const Selection selection = select(world, {filter_of(row)});
  ++tally.rows;
  for (const Row* counted : countable(world, selection)) {
    try {
      for (const hardware::Compared& found :
           hardware::compare(count_launches(*counted, world), measured)) {
        ++tally.compared;
        tally.equal += found.counted == found.measured;
        if (found.counted == found.measured) continue;
        table.add({name, found.kernel, found.quantity, fmt::format("{:.0f}", found.counted),
                   fmt::format("{:.0f}", found.measured), fmt::format("{:.3f}", found.ratio())});
      }
    } catch (const Error& error) {
      ++tally.other_launches;
      table.add({name, "", error.what(), "", "", ""});
    }
    return; // other modes of this variant
  }
}

} // namespace

int compare_hardware(const Options& options, World& world) {
  judge::TextTable table({"row", "kernel", "quantity", "counted", "hardware", "ratio"});
  Tally tally;
  for (const std::filesystem::path& file : options.compare.hardware) {
    const std::vector<hardware::Launch> launches = hardware::read_ncu(file);
    const std::filesystem::path rows_file = std::filesystem::path(file).replace_extension(".json");
    const judge::Results run = judge::load_results(rows_file);
    std::size_t next = 0;
    for (const judge::Measured& row : run.rows) {
      if (row.kind != judge::Kind::ours || !row.verified.empty()) continue;
      const std::size_t count = launches_of(row, rows_file.string());
      require(next + count <= launches.size(),
              fmt::format("{} has {} launches, and {} made more; profile all of them",
                          file.string(), launches.size(), rows_file.string()));
      compare_row(row, std::span(launches).subspan(next, count), world, table, tally);
      next += count;
    }
    require(next == launches.size(),
            fmt::format("{} has {} launches, and the rows of {} made {}; profile nothing else",
                        file.string(), launches.size(), rows_file.string(), next));
  }
  if (tally.compared > tally.equal || tally.other_launches > 0) world.out << table.plain();
  world.out << fmt::format(
      "{} of {} counts of {} rows are the hardware's; {} rows launch otherwise "
      "there and are not compared\n",
      tally.equal, tally.compared, tally.rows, tally.other_launches);
  return judge::kExitPass;
}

} // namespace kg::cli
