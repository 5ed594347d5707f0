// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade compare: compares two stored results row by row. Needs no device.
#include "perf/judge/compare_results.h"

#include "perf/cli/commands.h"
#include "perf/cli/stored_runs.h"
#include "perf/report/comparison.h"
#include "perf/report/rows.h"
#include "runtime/atomic_file.h"

#include <fmt/format.h>
#include <ostream>

namespace kg::cli {

int compare(const Options& options, World& world) {
  if (!options.compare.ladders.empty()) return compare_ladders(options, world);
  const judge::Results a = load_runs({options.files.at(0)}), b = load_runs({options.files.at(1)});
  judge::CompareRule rule;
  rule.device = report::device_of(a);
  rule.tol_pct = options.tol_pct;
  const judge::ComparedResults compared = judge::compare(a, b, rule);
  if (compared.across_devices && !options.compare.across_devices) {
    const auto& [left, right] = compared.environment.at("device");
    throw UsageError(fmt::format("{} was measured on {}, {} on {}; to look at both all the same, "
                                 "add --across-devices",
                                 options.files[0].string(), left, options.files[1].string(),
                                 right));
  }
  const int exit_code = judge::exit_code(compared, options.strict);
  if (!options.json.empty()) write_file(options.json, report::json(compared, exit_code));
  world.out << (options.compare.markdown ? report::markdown(compared)
                                         : report::plain_text(compared));
  return exit_code;
}

} // namespace kg::cli
