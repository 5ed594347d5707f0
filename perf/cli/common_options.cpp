// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/common_options.h"

#include "perf/cli/number_options.h"

#include <CLI/CLI.hpp>

namespace kg::cli {

void add_rows(CLI::App& command, Words& words) {
  add_filter(command, words.filter);
  const std::vector<CLI::Option*> filters =
      command.get_options([](const CLI::Option* option) { return option->get_group() == kRows; });
  CLI::Option* batch = command
                           .add_option("--batch", words.batch,
                                       "take such options from a file, one set of rows per line")
                           ->type_name("FILE")
                           ->group(kRows);
  for (CLI::Option* filter : filters) batch->excludes(filter);
}

void add_row_timeout(CLI::App& command, Words& words) {
  command
      .add_option("--row-timeout", words.options.row_timeout_s,
                  "seconds after which a row is killed")
      ->check(seconds())
      ->capture_default_str();
}

void add_device(CLI::App& command, Words& words) {
  Options& options = words.options;
  command
      .add_option("--device", options.device,
                  "the GPU's number, or the name that the device must have (nvidia-h200, host)")
      ->type_name("NAME");
  command.add_option("--json", options.json, "write all samples to this file")->type_name("FILE");
  command.add_option("--source-id", options.source_id, "name of the source if there is no git")
      ->type_name("ID");
  command.add_option("--shuffle", options.shuffle,
                     "measure in a random order, with N as the seed (default: as listed)");
  add_row_timeout(command, words);
  command.add_flag("--in-process", options.in_process,
                   "measure in this process, for debuggers and profilers; a crash ends the run");
  command.add_option("--journal", options.journal)->group(""); // internal
  command.add_flag("--quiet", options.quiet, "print no progress and no table");
}

void add_measuring(CLI::App& command, Words& words) {
  add_device(command, words);
  command
      .add_option(
          "--processes,--rounds", words.processes,
          "fresh processes that measure every row (default: run 1, gate 3, bless 5, on GPUs 10)")
      ->check(CLI::Range(1, 100));
  command
      .add_option("--library-rounds", words.options.library_processes,
                  "measure libraries in only N of the processes; their rows are informational")
      ->check(CLI::Range(1, 100));
}

void add_shard(CLI::App& command, Words& words, const char* text) {
  command.add_option("--shard", words.shard, text)->type_name("I/N");
}

void add_tolerance(CLI::App& command, Words& words) {
  command.add_option("--tol-pct", words.options.tol_pct, "tolerated slowdown in percent")
      ->check(percent());
}

void add_baselines(CLI::App& command, Words& words) {
  command
      .add_option("--baselines", words.options.baselines,
                  "folder of the baselines (default: that of the source tree)")
      ->type_name("FOLDER");
}

CLI::Option* add_cost(CLI::App& command, Words& words) {
  return command.add_flag("--cost", words.options.cost,
                          "count costs instead of times; needs no GPU (only builds with g++)");
}

void add_strict(CLI::App& command, Words& words) {
  command.add_flag("--strict", words.options.strict,
                   "fail if a row would be skipped (also KERNELGRADE_STRICT=1)");
}

} // namespace kg::cli
