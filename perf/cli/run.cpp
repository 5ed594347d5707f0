// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade run: measures, and judges only the results' correctness.
#include "perf/cli/baselines.h"
#include "perf/cli/commands.h"
#include "perf/cli/measure_rows.h"
#include "perf/cli/shard.h"
#include "perf/judge/command.h"
#include "perf/report/rows.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <ostream>
#include <vector>

namespace kg::cli {

int run(const Options& options, World& world) {
  Selection selection = select(world, options.filters);
  if (selection.selected == 0) throw Error(nothing_selected(world));
  say_untimed(world, selection);
  const std::optional<judge::Shard> shard = divide(options, selection, "times");
  if (const auto exit = exit_without_device(options, world)) return *exit;
  judge::Results measured = measure_rows(options, world, selection);
  measured.shard = shard;
  if (!options.journal.empty()) return judge::kExitPass; // the reader judges it
  if (!options.json.empty()) judge::save_results(options.json, measured);
  if (!options.quiet) world.out << report::measured_table(measured.rows, kJudged).plain();

  std::vector<judge::RowExit> exits;
  for (const judge::Measured& row : measured.rows) {
    if (!row.skipped.empty()) {
      exits.push_back({judge::kExitSkip});
      world.err << fmt::format("{}: skipped: {}\n", judge::text(row.key), row.skipped);
      continue;
    }
    exits.push_back({row.verified.empty() ? judge::kExitPass : judge::kExitFail});
    if (row.verified.empty()) continue;
    world.err << fmt::format("{}: INVALID: {}; again: {}\n", judge::text(row.key), row.verified,
                             judge::row_command("run", row.op, row.dtype, row.key));
  }
  return judge::exit_of_rows(exits, options.strict);
}

} // namespace kg::cli
