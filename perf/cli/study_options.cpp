// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/study_options.h"

#include "perf/lab/study/study.h"

#include <CLI/CLI.hpp>

namespace kg::cli {
namespace {

constexpr const char* kFooter =
    "A study measures every variant and library at several problems, checks every result, and "
    "writes\n"
    "each experiment to a file in report/studies/ the moment that it ends.\n"
    "  kernelgrade study matmul --max-size 1024     begin one\n"
    "  kernelgrade study matmul --max-size 1024 --resume     go on with the newest that was "
    "interrupted\n"
    "  kernelgrade report report/studies/FILE       tables and plots of what it found\n"
    "A study goes on only on the device, and with the program, that it began with. `kernelgrade "
    "study\n"
    "NAME --help` lists the settings of one; the options above stand before or behind them.\n"
    "Exit codes: 0 all right, 1 a wrong result or an exponent outside its tolerance, 2 called "
    "wrongly,\n"
    "77 nothing could be measured.";

} // namespace

CLI::App* add_study(CLI::App& app, Options& options) {
  CLI::App* command =
      app.add_subcommand("study", "measure one operation over many sizes, in a file that survives "
                                  "interruption");
  command->footer(kFooter);
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
  command->add_flag("--commit", options.study.commit,
                    "commit the file of results when it is finished");
  command
      ->add_option_function<std::string>(
          "--resume", [&options](const std::string& file) { options.study.resume = file; },
          "go on with this file, or with the newest unfinished one of the same settings")
      ->expected(0, 1)
      ->type_name("[FILE]");
  command->add_option("--out", options.study.folder, "folder of the files")->capture_default_str();
  return command;
}

} // namespace kg::cli
