// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/check/options.h"

#include "perf/format/help_page.h"
#include "runtime/atomic_file.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <regex>

namespace kg::program {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter = R"(Examples:
  kernelgrade check race.cu
  kernelgrade check main.cu kernels.cu -I include -D N=1024 -- --size 100
  kernelgrade check race.cu --sarif findings.sarif --costs

Exit code 0: no findings, and the program ended with 0. Exit code 1: a finding, or the program failed
or launched no kernel. Exit code 2: usage error, or the program does not compile.

Guide: docs/how-to/check_a_program.md
)";

void require_sources(const Options& options) {
  if (options.sources.empty())
    throw UsageError("which program? kernelgrade check FILE.cu... [-- ARGUMENT...]");
  constexpr std::array kEndings = {".cu", ".cpp", ".cc", ".cxx", ".c"};
  for (const fs::path& source : options.sources) {
    if (!fs::is_regular_file(source))
      throw UsageError(fmt::format("{}: no such file", source.string()));
    if (source.extension() == ".ptx")
      throw UsageError(fmt::format("{}: a program is checked, not a kernel's PTX; `kernelgrade try "
                                   "OP {}` judges it as an operation of the suite",
                                   source.string(), source.string()));
    if (std::find(kEndings.begin(), kEndings.end(), source.extension()) == kEndings.end())
      throw UsageError(
          fmt::format("{}: a source ends with .cu, .cpp, .cc, .cxx or .c; arguments of the "
                      "program come after --",
                      source.string()));
  }
}

void require_orders(const std::vector<std::string>& orders) {
  static const std::regex kKnown("forward|reverse|random:[0-9]{1,18}");
  for (const std::string& order : orders)
    if (!std::regex_match(order, kKnown))
      throw UsageError(fmt::format("--order {}: forward, reverse or random:SEED?", order));
}

} // namespace

Options parse(const std::vector<std::string>& words) {
  Options options;
  const auto mark = std::find(words.begin(), words.end(), "--");
  if (mark != words.end()) options.arguments.assign(mark + 1, words.end());

  CLI::App app("run any CUDA program under the checkers for races, bounds, initialization and "
               "barriers, without a GPU or nvcc",
               "kernelgrade check");
  app.footer(kFooter);
  std::vector<std::string> folders, macros;
  app.add_option("FILE", options.sources,
                 "the program's sources, one of which has main(): CUDA (.cu), C++ (.cpp, .cc, "
                 ".cxx) or C (.c)");
  const auto add_list = [&](const char* name, const char* type, std::vector<std::string>& values,
                            const char* text) {
    app.add_option(name, values, text)->allow_extra_args(false)->type_name(type);
  };
  add_list("-I", "DIR", folders, "a folder with headers");
  add_list("-D", "MACRO", macros, "a macro: N or N=1024");
  add_list("--compile", "OPTION", options.compile,
           "an option for the compiler and the linker, such as -fopenmp");
  add_list("--order", "ORDER", options.orders,
           "forward, reverse or random:SEED, may be repeated (default: forward, reverse, random:1, "
           "random:2)");
  app.add_flag("--fast", options.fast, "run without checkers")
      ->excludes(app.add_flag("--costs", options.costs,
                              "show the memory costs of each line of its kernels"));
  app.add_flag("--huge", options.huge,
               "run large grids in part, for arrays of more than 2^32 elements; the program's exit "
               "code does not count")
      ->excludes("--fast")
      ->excludes("--costs");
  app.add_flag(
      "--uninitialised-loads", options.uninitialised_loads,
      "report each load of memory that nothing has written, whether or not a result depends "
      "on it");
  app.add_option("--timeout", options.timeout_s, "end a run after N seconds")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--json", options.json, "write the findings to this file")->type_name("FILE");
  app.add_option("--sarif", options.sarif, "write the findings to this file as SARIF 2.1.0")
      ->type_name("FILE");
  app.add_option("--coverage", options.coverage,
                 "write which kernels ran to this file, in lcov's format")
      ->type_name("FILE");
  app.set_help_flag("-h,--help", "print this help");
  cli::format_help(app);
  if (const auto page = cli::page_asked_for(words)) {
    options.help = cli::section(*page, app, app.get_name(), 2);
    return options;
  }
  try {
    std::vector<std::string> reversed(std::make_reverse_iterator(mark),
                                      std::make_reverse_iterator(words.begin()));
    app.parse(reversed); // in CLI11's order
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::Success))
      throw UsageError(
          fmt::format("{}; `kernelgrade check --help` lists the options", error.what()));
    options.help = app.help();
    return options;
  }
  require_sources(options);
  require_orders(options.orders);
  // Any single order may hide a race; two random orders find races that forward and reverse do not.
  if (options.orders.empty() && options.fast) options.orders = {"forward"};
  if (options.orders.empty()) options.orders = {"forward", "reverse", "random:1", "random:2"};
  for (const std::string& folder : folders)
    if (!fs::is_directory(folder)) throw UsageError(fmt::format("-I {}: no such folder", folder));
  for (const std::string& folder : folders)
    options.compile.push_back("-I" + fs::absolute(folder).string());
  for (const std::string& macro : macros) options.compile.push_back("-D" + macro);
  for (const fs::path& file : {options.json, options.sarif, options.coverage}) try {
      if (!file.empty()) require_writable(file);
    } catch (const Error& error) {
      throw UsageError(error.what());
    }
  return options;
}

} // namespace kg::program
