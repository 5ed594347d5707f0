// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/check/options.h"

#include "runtime/atomic_file.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <regex>

namespace kg::program {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExamples = R"(
Examples:
  kernelgrade check race.cu
  kernelgrade check main.cu kernels.cu -I include -D N=1024 -- --size 100
  kernelgrade check race.cu --sarif findings.sarif --costs

Exit codes: 0 no findings, and the program ended with 0; 1 a finding, or the program failed or
launched no kernel; 2 called wrongly, or it does not compile.)";

void require_sources(const Options& options) {
  if (options.sources.empty())
    throw UsageError("which program? kernelgrade check FILE.cu... [-- ARGUMENT...]");
  constexpr std::array kEndings = {".cu", ".cpp", ".cc", ".cxx"};
  for (const fs::path& source : options.sources) {
    if (!fs::is_regular_file(source))
      throw UsageError(fmt::format("{}: there is no such file", source.string()));
    if (source.extension() == ".ptx")
      throw UsageError(fmt::format("{}: a program is checked, not a kernel's PTX; `kernelgrade try "
                                   "OP {}` judges it as an operation of the suite",
                                   source.string(), source.string()));
    if (std::find(kEndings.begin(), kEndings.end(), source.extension()) == kEndings.end())
      throw UsageError(
          fmt::format("{}: a source ends with .cu, .cpp, .cc or .cxx; arguments of the "
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

  CLI::App app("Compiles a CUDA program for the emulator and runs it there under the checkers of "
               "races, bounds, initialization and barriers. No GPU and no nvcc are needed.",
               "kernelgrade check");
  app.footer(kExamples);
  std::vector<std::string> folders, macros;
  app.add_option(
      "FILE", options.sources,
      "the program's sources, one of which has main(): CUDA (.cu) and C++ (.cpp, .cc, .cxx)");
  const auto add_list = [&](const char* name, std::vector<std::string>& values, const char* text) {
    app.add_option(name, values, text)->allow_extra_args(false);
  };
  add_list("-I", folders, "a folder of headers");
  add_list("-D", macros, "a macro, as N or N=1024");
  add_list("--compile", options.compile, "another option of the compiler and linker, as -fopenmp");
  add_list("--order", options.orders,
           "run it in this order of threads only: forward, reverse or random:SEED; may be repeated "
           "(default: forward, reverse, random:1, random:2, up to the first finding)");
  app.add_flag("--fast", options.fast, "run it without checkers")
      ->excludes(app.add_flag("--costs", options.costs,
                              "show what each line of its kernels asks of a GPU's memory"));
  app.add_option("--timeout", options.timeout_s, "end a run after so many seconds")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--json", options.json, "write the findings to this file");
  app.add_option("--sarif", options.sarif, "write the findings to this file as SARIF 2.1.0");
  try {
    std::vector<std::string> reversed(std::make_reverse_iterator(mark),
                                      std::make_reverse_iterator(words.begin()));
    app.parse(reversed); // as CLI11 wants them
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::Success))
      throw UsageError(
          fmt::format("{}; `kernelgrade check --help` lists the options", error.what()));
    options.help = app.help();
    return options;
  }
  require_sources(options);
  require_orders(options.orders);
  // A race may hide in any one order; two random ones find what forward and reverse do not.
  if (options.orders.empty() && options.fast) options.orders = {"forward"};
  if (options.orders.empty()) options.orders = {"forward", "reverse", "random:1", "random:2"};
  for (const std::string& folder : folders)
    if (!fs::is_directory(folder))
      throw UsageError(fmt::format("-I {}: there is no such folder", folder));
  for (const std::string& folder : folders)
    options.compile.push_back("-I" + fs::absolute(folder).string());
  for (const std::string& macro : macros) options.compile.push_back("-D" + macro);
  for (const fs::path& file : {options.json, options.sarif}) try {
      if (!file.empty()) require_writable(file);
    } catch (const Error& error) {
      throw UsageError(error.what());
    }
  return options;
}

} // namespace kg::program
