// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/selftest_options.h"

#include "perf/cli/common_options.h"
#include "perf/cli/number_options.h"
#include "perf/cli/row_options.h"

#include <CLI/CLI.hpp>

namespace kg::cli {

void add_selftest(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* selftest = app.add_subcommand(
      "selftest", "measure the gate's false alarms and its power, with injected slowdowns");
  add_rows(*selftest, words);
  selftest->add_option("experiments", options.selftest.experiments,
                       "experiments: aa, inject=3,5,10 (percent), creep, load, bimodal, wild");
  selftest->add_option("--device", options.device, "the GPU's number, or the device's name")
      ->type_name("NAME");
  selftest->add_option("--source-id", options.source_id, "name of the source if there is no git")
      ->type_name("ID");
  selftest->add_option("--checks", options.selftest.checks,
                       "row checks of each experiment (default: those of one batch)");
  selftest
      ->add_option("--minutes", options.selftest.minutes,
                   "stop before this time limit (default: none)")
      ->check(minutes());
  selftest
      ->add_option("--processes", words.processes, "processes for the screening step (default: 5)")
      ->check(CLI::Range(3, 10));
  selftest
      ->add_option("--batches-per-bless", options.selftest.batches_per_bless,
                   "batches measured per baseline")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  selftest->add_option("--seed", options.shuffle, "random seed (default: 0)");
  selftest
      ->add_option("--samples", options.selftest.samples,
                   "write all samples to this folder, one file per batch")
      ->type_name("FOLDER");
  selftest->add_option("--out", options.selftest.calibration,
                       "write calibration.csv to this file after each batch");
  CLI::Option* merge = selftest
                           ->add_option("--merge", options.selftest.pooled,
                                        "measure nothing; pool these files into --out")
                           ->type_name("FILE");
  CLI::Option* table = selftest
                           ->add_option("--table", options.selftest.compared,
                                        "measure nothing; compare the rules of these files")
                           ->type_name("FILE");
  merge->excludes(table);
  selftest->add_option("--load", options.selftest.load_processes,
                       "number of busy processes (default: one per core)");
  selftest->add_flag("--busy", options.selftest.busy, "be one of them")->group("");
}

} // namespace kg::cli
