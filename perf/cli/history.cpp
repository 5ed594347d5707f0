// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade history import|show|plot: rows across runs. Needs no device.
#include "perf/cli/commands.h"
#include "perf/judge/gate.h"
#include "perf/lab/history/database.h"
#include "perf/lab/history/events.h"
#include "runtime/atomic_file.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>

namespace kg::cli {
namespace {

int import(const Options& options, World& world, history::Database& database) {
  if (options.files.empty())
    throw UsageError(
        "history import: name at least one report.json, as `kernelgrade report` writes it");
  std::size_t taken = 0;
  for (const auto& file : options.files) taken += database.import(file);
  const std::size_t removed =
      options.history.most_runs > 0 ? database.prune(options.history.most_runs) : 0;
  world.out << fmt::format("{}: {} runs taken in, {} were there already{}\n",
                           options.history.file.string(), taken, options.files.size() - taken,
                           removed > 0 ? fmt::format(", {} older ones removed", removed) : "");
  return judge::kExitPass;
}

// A file name: any character except letters, digits, '.', '_' and '-' becomes '_'.
std::string file_name(const history::Series& series) {
  std::string name =
      fmt::format("{}.{}.{}.{}.svg", series.case_id, series.variant, series.mode, series.device);
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return !std::isalnum(c) && c != '.' && c != '_' && c != '-'; }, '_');
  return name;
}

} // namespace

int history(const Options& options, World& world) {
  if (options.history.action != "import")
    require(std::filesystem::exists(options.history.file),
            fmt::format("{} does not exist; make it by `kernelgrade history import`",
                        options.history.file.string()));
  history::Database database(options.history.file);
  if (options.history.action == "import") return import(options, world, database);
  const auto found = database.series(options.history.case_part, options.history.variant);
  if (found.empty())
    throw Error(fmt::format(
        "{}: no row whose case contains \"{}\"{}", options.history.file.string(),
        options.history.case_part,
        options.history.variant.empty() ? "" : " of variant " + options.history.variant));
  for (const history::Series& series : found) {
    const auto points = database.points(series);
    if (options.history.action == "show") {
      world.out << history::plain_text(series, points);
      continue;
    }
    const auto file = options.history.pictures / file_name(series);
    write_file(file, history::svg(series, points));
    world.out << file.string() << "\n";
  }
  return judge::kExitPass;
}

} // namespace kg::cli
