// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/cost_compiled.h"

#include "perf/cli/cost_model.h"
#include "perf/cli/selection.h"
#include "perf/code/cost/compiled.h"
#include "perf/format/table.h"

#include <fmt/format.h>
#include <ostream>
#include <string>
#include <vector>

namespace kg::cli {
namespace {

std::string both(std::uint64_t source, std::uint64_t compiled) {
  return source == compiled ? std::to_string(source) : fmt::format("{} -> {}", source, compiled);
}

} // namespace

int profile_compiled(const Options& options, World& world) {
  const Selection selection = select(world, options.filters);
  judge::TextTable table({"case", "variant", "what", "requests", "sectors or passes",
                          "lines as g++ made them", "lines as nvcc made them"});
  std::size_t rows = 0, different = 0;
  for (const Row* row : countable(world, selection)) {
    world.use_compiled("");
    const std::vector<count::Launch> source = count_launches(*row, world);
    world.use_compiled(options.compiled.string());
    const std::vector<cost::Difference> found =
        cost::differences(source, count_launches(*row, world));
    ++rows;
    different += !found.empty();
    for (const cost::Difference& one : found)
      table.add({row->registered.key.case_id, row->registered.key.variant, one.what,
                 both(one.source, one.compiled), both(one.source_passes, one.compiled_passes),
                 one.source_lines, one.compiled_lines});
  }
  world.use_compiled("");
  if (different > 0) world.out << table.plain();
  world.out << fmt::format("{} of {} rows: nvcc's code accesses memory as g++'s does\n",
                           rows - different, rows);
  return judge::kExitPass;
}

} // namespace kg::cli
