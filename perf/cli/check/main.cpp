// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade-check, started by `kernelgrade check`: a separate program, since it needs no
// operations, so that a first verdict builds nothing else.
#include "perf/cli/candidate/sandbox.h"
#include "perf/cli/check/report.h"
#include "perf/cli/check/undefined.h"
#include "perf/code/cost/source_advice.h"
#include "perf/code/coverage/coverage.h"
#include "perf/format/sinks.h"
#include "runtime/atomic_file.h"
#include "runtime/environment.h"
#include "runtime/temporary_folder.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <iterator>

namespace kg::program {
namespace {

namespace fs = std::filesystem;

constexpr int kExitFail = 1, kExitUsage = 2;

constexpr const char* kNoMain =
    "kernelgrade check: none of the sources has a main(), and a program is checked as it runs.\n"
    "  A kernel for an operation of the suite: kernelgrade try OP FILE.cu "
    "(docs/how-to/judge_a_kernel.md)\n"
    "  A kernel with a test of your own: kernelgrade_add_kernel_test() in CMake "
    "(docs/how-to/test_in_your_project.md)\n";

// The folder to which a repository's file names are relative, or the current one.
fs::path root_of_sources() {
  const fs::path here = fs::current_path();
  for (fs::path folder = here;; folder = folder.parent_path()) {
    if (fs::exists(folder / ".git")) return folder;
    if (folder == folder.parent_path()) return here;
  }
}

// The compiled program; if it does not compile, prints the reason.
Compiled compile_or_say(const Options& options, Kind kind, const fs::path& tools,
                        const fs::path& folder) {
  need_parts(kind, tools);
  Compiled compiled = compile(options, kind, tools, folder);
  if (compiled.lacks_main)
    std::cerr << kNoMain;
  else if (!compiled.errors.empty())
    std::cerr << judge::printable(compiled.errors) << "kernelgrade check: it does not compile\n";
  return compiled;
}

// Reads a source of the program or a header next to one, but no system header.
std::optional<std::string> read_own(const Options& options, const std::string& file) {
  for (const fs::path& source : options.sources) {
    const fs::path folder = fs::absolute(source).lexically_normal().parent_path();
    const std::string name = fs::absolute(file).lexically_normal().string();
    if (name.starts_with(folder.string() + "/")) return read_file(file);
  }
  return std::nullopt;
}

int check(const Options& options) {
  using std::chrono::steady_clock;
  const fs::path tools = perf::this_executable().parent_path();
  const TemporaryFolder folder;
  if (const candidate::Sandbox sandbox = candidate::sandbox(); sandbox.on)
    std::cerr << sandbox.words << "\n";
  Verdict verdict;
  const steady_clock::time_point begin = steady_clock::now();
  const Compiled compiled =
      compile_or_say(options, options.fast ? Kind::plain : Kind::checked, tools, folder.path());
  if (!compiled.errors.empty()) return kExitUsage;
  verdict.compile_seconds = std::chrono::duration<double>(steady_clock::now() - begin).count();
  const bool strict = options.uninitialised_loads || is_set("KERNELGRADE_UNINITIALISED_LOADS");
  for (const std::string& order : options.orders) {
    const bool quiet = !verdict.runs.empty(); // the program's output is shown once
    Run one = run(options, tools, compiled.program, {order, quiet, strict ? "" : kFirstFill},
                  folder.path());
    if (!one.events.undefined_loads.empty()) {
      if (!quiet)
        std::cerr
            << "kernelgrade check: kernels loaded values that nothing has written; the program "
               "runs again to see whether a result depends on them\n";
      judge_undefined_loads(one, options, tools, compiled.program, folder.path());
    }
    verdict.runs.push_back(std::move(one));
    if (!verdict.passed()) break;
  }
  if (options.costs) {
    const Compiled counted = compile_or_say(options, Kind::counted, tools, folder.path());
    if (!counted.errors.empty()) return kExitUsage;
    if (verdict.failure().empty()) {
      verdict.costs = count_launches(options, tools, counted.program, folder.path());
      verdict.advice = cost::launch_advice(*verdict.costs);
      const auto add = [&](std::vector<cost::Advice> more) {
        std::move(more.begin(), more.end(), std::back_inserter(verdict.advice));
      };
      add(cost::double_advice(counted.warnings,
                              [&](const std::string& file) { return read_own(options, file); }));
      for (const fs::path& source : options.sources) {
        const std::string file = source.string(), text = read_file(source).value_or("");
        add(cost::timing_advice(file, text));
        add(cost::alias_advice(*verdict.costs, file, text));
        add(cost::cache_advice(*verdict.costs, file, text));
      }
      const std::string here = fs::current_path().string() + "/"; // file names as in the findings
      for (cost::Advice& one : verdict.advice)
        if (one.place.starts_with(here)) one.place.erase(0, here.size());
    }
  }
  std::cout << text_of(verdict, options) << std::flush;
  if (!options.json.empty()) write_file(options.json, json_of(verdict, options));
  if (!options.coverage.empty()) write_file(options.coverage, coverage::lcov_of(verdict.notes()));
  if (!options.sarif.empty()) write_file(options.sarif, sarif_of(verdict, root_of_sources()));
  return verdict.passed() ? 0 : kExitFail;
}

} // namespace
} // namespace kg::program

int main(int argc, char** argv) {
  using namespace kg::program;
  try {
    const Options options = parse({argv + 1, argv + argc});
    if (!options.help.empty()) {
      std::cout << options.help;
      return 0;
    }
    return check(options);
  } catch (const UsageError& error) {
    std::cerr << "kernelgrade check: " << kg::judge::for_console(error.what()) << "\n";
    return kExitUsage;
  } catch (const std::exception& error) {
    std::cerr << "kernelgrade check: " << kg::judge::for_console(error.what()) << "\n";
    return kExitFail;
  }
}
