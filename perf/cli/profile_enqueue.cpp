// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade profile --enqueue: the caller's time for our selected rows, separate from their
// kernels' time.
#include "perf/cli/lab_commands.h"
#include "perf/cli/measure_rows.h"
#include "perf/format/table.h"
#include "perf/format/units.h"
#include "perf/measure/device_lock.h"
#include "perf/measure/enqueue.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace kg::cli {
namespace {

struct Enqueued {
  judge::RowKey key;
  perf::Enqueue cost;
};

std::vector<std::string> line_of(const std::string& op, std::vector<Enqueued>& rows) {
  std::sort(rows.begin(), rows.end(),
            [](const Enqueued& a, const Enqueued& b) { return a.cost.ns < b.cost.ns; });
  const auto most =
      std::max_element(rows.begin(), rows.end(), [](const Enqueued& a, const Enqueued& b) {
        return a.cost.parses < b.cost.parses;
      });
  const Enqueued& worst = rows.back();
  return {op,
          std::to_string(rows.size()),
          std::to_string(most->cost.parses),
          judge::time_text(rows[rows.size() / 2].cost.ns),
          judge::time_text(worst.cost.ns),
          std::to_string(worst.cost.launches),
          worst.key.case_id + " " + worst.key.variant};
}

} // namespace

int profile_enqueue(const Options& options, World& world) {
  const Selection selection = select(world, options.filters);
  if (selection.selected == 0) throw Error(nothing_selected(world));
  if (const auto exit = exit_without_device(options, world)) return *exit;
  const perf::DeviceLock lock = lock_device(world);
  const std::unique_ptr<perf::Apparatus> apparatus = world.apparatus(options.pace);
  std::map<std::string, std::vector<Enqueued>> by_operation;
  int exit_code = judge::kExitPass;
  for (const Row* row : each_row_once(selection)) {
    const judge::RowKey& key = row->registered.key;
    if (row->registered.kind == judge::Kind::vendor) continue;
    try {
      by_operation[row->registered.op].push_back(
          {key, perf::enqueue_of(row->make(), apparatus->stream, apparatus->instruments.now)});
    } catch (const Error& error) {
      world.err << fmt::format("{}: {}\n", judge::text(key), error.what());
      exit_code = judge::kExitFail;
    }
  }
  judge::TextTable table({"operation", "rows", "parses", "median", "worst", "launches", "of"});
  for (auto& [op, rows] : by_operation)
    if (!rows.empty()) table.add(line_of(op, rows));
  if (!options.quiet) world.out << table.plain();
  return exit_code;
}

} // namespace kg::cli
