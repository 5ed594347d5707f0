// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/check/program.h"

#include "perf/cli/build/target.h"
#include "perf/cli/candidate/process.h"
#include "perf/code/cost/stored_counts.h"
#include "runtime/atomic_file.h"

#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <iostream>
#include <unistd.h>

namespace kg::program {
namespace {

namespace fs = std::filesystem;

const char* name(Kind kind) {
  constexpr const char* kNames[] = {"plain", "checked", "counted"};
  return kNames[static_cast<int>(kind)];
}

constexpr int kTimedOut = 124; // kernelgrade-guard's exit code

fs::path guard(const fs::path& tools) { return tools / "kernelgrade-guard"; }

// Sets an environment variable, for programs started during its lifetime.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (before_.empty())
      unsetenv(name_);
    else
      setenv(name_, before_.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::string before_;
};

// Runs below kernelgrade-guard: no process of the program outlives it. In the sandbox it may write
// to the current folder and to `folder`.
std::vector<std::string> limited(const Options& options, const fs::path& tools,
                                 const fs::path& program, const fs::path& folder) {
  std::vector<std::string> command = {guard(tools).string(), "--with-parent", "1", "--seconds",
                                      std::to_string(options.timeout_s)};
  if (candidate::sandbox().on)
    for (const fs::path& writable : {fs::current_path(), folder})
      command.insert(command.end(), {"--write", writable.string()});
  command.insert(command.end(), {"--", program.string()});
  command.insert(command.end(), options.arguments.begin(), options.arguments.end());
  return command;
}

} // namespace

void need_parts(Kind kind, const fs::path& tools) {
  const std::vector<std::string> list = {(tools / "compile-cuda").string(), "missing", name(kind)};
  const auto missing = [&] { return perf::run_process(list, perf::Output::capture).output; };
  if (missing().empty()) return;
  if (build::is_in_build_tree(tools, KERNELGRADE_BUILD_DIR))
    build::make(KERNELGRADE_BUILD_DIR, kind == Kind::counted ? "check_costs" : "check", std::cerr);
  if (const std::string still = missing(); !still.empty())
    throw Error(fmt::format("{}is missing; install Kernelgrade again, with the target installable "
                            "built",
                            still));
}

Compiled compile(const Options& options, Kind kind, const fs::path& tools, const fs::path& folder) {
  Compiled compiled{.program = folder / name(kind) / options.sources.front().stem(),
                    .errors = {},
                    .warnings = {}};
  fs::create_directories(compiled.program.parent_path());
  std::vector<std::string> command = {(tools / "compile-cuda").string(), "program", name(kind),
                                      compiled.program.string(), (folder / "work").string()};
  for (const fs::path& source : options.sources) command.push_back(fs::absolute(source).string());
  command.insert(command.end(), options.compile.begin(), options.compile.end());
  const perf::Finished finished =
      candidate::run_guarded(guard(tools), command, candidate::kCompileSeconds, folder);
  compiled.warnings = finished.output;
  if (finished.exit_code == 0) return compiled;
  compiled.errors = finished.output;
  compiled.lacks_main = finished.output.find("undefined reference to `main'") != std::string::npos;
  return compiled;
}

std::string Run::failure() const {
  if (timed_out) return fmt::format("the program did not end within {:.0f} s", seconds);
  if ((finished.exit_code != 0 && !huge) || finished.signal != 0)
    return "the program ended " + perf::ending(finished);
  if (events.launches == 0) return "the program launched no kernel, so nothing was checked";
  return "";
}

Run run(const Options& options, const fs::path& tools, const fs::path& program, const RunMode& mode,
        const fs::path& folder) {
  using std::chrono::steady_clock;
  const fs::path file = folder / "events";
  fs::remove(file);
  const Variable events("KERNELGRADE_EVENTS", file.string());
  const Variable threads("KERNELGRADE_THREAD_ORDER", mode.order);
  const Variable fill("KERNELGRADE_UNDEFINED_FILL", mode.fill);
  const Variable window("KERNELGRADE_GRID_WINDOW", options.huge ? "1" : "0");
  // Each run reads a file from the same position as the first run.
  static const off_t input = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
  if (input >= 0) ::lseek(STDIN_FILENO, input, SEEK_SET);
  const steady_clock::time_point begin = steady_clock::now();
  Run run{.order = mode.order, .finished = {}, .events = {}, .huge = options.huge};
  const std::vector<std::string> command = limited(options, tools, program, folder);
  run.finished = mode.quiet ? perf::run_process(command, perf::Output::capture)
                            : perf::wait_process(perf::start_process(command));
  run.seconds = std::chrono::duration<double>(steady_clock::now() - begin).count();
  run.timed_out = run.finished.exit_code == kTimedOut && run.seconds >= options.timeout_s;
  const std::string left = read_file(file).value_or("");
  run.events = read_events(left, fs::current_path().string());
  run.notes = coverage::read_notes(left);
  return run;
}

std::vector<count::Launch> count_launches(const Options& options, const fs::path& tools,
                                          const fs::path& program, const fs::path& folder) {
  const fs::path file = folder / "counts.json";
  const Variable counts("KERNELGRADE_COUNTS", file.string());
  const perf::Finished finished =
      perf::run_process(limited(options, tools, program, folder), perf::Output::capture);
  if (finished.exit_code != 0 || !fs::exists(file))
    throw Error("costs: the program that is counted ended " + perf::ending(finished));
  return cost::load_counts(file);
}

} // namespace kg::program
