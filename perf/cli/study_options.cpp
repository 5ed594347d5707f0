// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/study_options.h"

#include "perf/lab/study/study.h"

#include <CLI/CLI.hpp>

namespace kg::cli {
CLI::App* add_study(CLI::App& app, Options& options) {
  CLI::App* command =
      app.add_subcommand("study", "measure one operation over many sizes, in a file that survives "
                                  "interruption");
  command->require_subcommand(1);
  for (const study::Study& study : study::studies()) {
    CLI::App* one = command->add_subcommand(study.name, study.text);
    one->callback([&options, name = study.name] { options.study.name = name; });
    for (const study::Setting& setting : study.settings)
      one->add_option_function<std::string>(
             "--" + setting.name,
             [&options, name = setting.name](const std::string& value) {
               options.study.settings[name] = value;
             },
             setting.text)
          ->default_str(setting.usual);
  }
  command->add_flag("--commit", options.study.commit, "commit the result file when it is finished");
  command
      ->add_option_function<std::string>(
          "--resume", [&options](const std::string& file) { options.study.resume = file; },
          "continue this file, or the newest unfinished one with the same settings")
      ->expected(0, 1)
      ->type_name("[FILE]");
  command->add_option("--out", options.study.folder, "folder of the result files")
      ->capture_default_str();
  return command;
}

} // namespace kg::cli
