// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/program_options.h"

namespace kg::cli {

void add_emulate(CLI::App& app, Words& words) {
  CLI::App* emulate = app.add_subcommand(
      "emulate", "run a CUDA program or a Triton script without a GPU: its PTX on the emulator");
  CLI::Option* checked =
      emulate->add_flag("--checked", words.options.emulated.checked,
                        "under the checkers: races, bounds, initialisation, leaks");
  emulate
      ->add_option("--counts", words.options.emulated.counts,
                   "write what each launch costs to this file, for profile --counts")
      ->excludes(checked);
  emulate->add_option("program", words.options.emulated.program,
                      "the program and its arguments, behind --");
  emulate->positionals_at_end();
}

void add_check(CLI::App& app) {
  app.add_subcommand("check", "run any CUDA program without a GPU, under the checkers of races, "
                              "bounds, initialization and barriers");
}

void add_model(CLI::App& app) {
  app.add_subcommand("model", "run a whole model, time its layers, compare it with another's");
}

} // namespace kg::cli
