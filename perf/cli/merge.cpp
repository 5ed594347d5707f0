// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade merge: joins stored measurements of one machine and build.
#include "perf/cli/stored_runs.h"

#include "perf/cli/commands.h"
#include "perf/judge/gate.h"

#include <fmt/format.h>
#include <ostream>

namespace kg::cli {

int merge(const Options& options, World& world) {
  const judge::Results merged = load_runs(options.files);
  judge::save_results(options.json, merged);
  std::size_t rows = merged.rows.size() + merged.costs.size();
  for (const auto& [name, of_name] : merged.resources) rows += of_name.size();
  world.out << fmt::format("{}: {} rows of {} files\n", options.json.string(), rows,
                           options.files.size());
  return judge::kExitPass;
}

} // namespace kg::cli
