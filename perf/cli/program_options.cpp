// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/program_options.h"

namespace kg::cli {

void add_emulate(CLI::App& app, Words& words) {
  CLI::App* emulate = app.add_subcommand(
      "emulate", "run the PTX of a CUDA program or a Triton script without a GPU");
  CLI::Option* checked =
      emulate->add_flag("--checked", words.options.emulated.checked,
                        "run under the checkers for races, bounds, initialization and leaks");
  emulate
      ->add_flag("--uninitialised-loads", words.options.emulated.uninitialised_loads,
                 "report undefined values where they are loaded, not where they are used")
      ->needs(checked);
  emulate
      ->add_option("--counts", words.options.emulated.counts,
                   "write the counts of each launch to this file, for profile --counts")
      ->type_name("FILE")
      ->excludes(checked);
  emulate
      ->add_option("--json", words.options.emulated.json,
                   "write which kernels ran, and what was approximated, to this file")
      ->type_name("FILE");
  emulate
      ->add_option("--coverage", words.options.emulated.coverage,
                   "write which kernels and lines ran to this file, in lcov's format")
      ->type_name("FILE");
  emulate->add_option("program", words.options.emulated.program,
                      "the program and its arguments, after --");
  emulate->positionals_at_end();
}

void add_check(CLI::App& app) {
  app.add_subcommand("check", "run any CUDA program under the checkers for races, bounds, "
                              "initialization and barriers, without a GPU or nvcc");
}

void add_model(CLI::App& app) {
  app.add_subcommand("model",
                     "run whole models made of the suite's operations, and time their layers");
}

} // namespace kg::cli
