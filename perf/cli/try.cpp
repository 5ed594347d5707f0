// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade try: somebody's kernel for an operation that has a card: right, and safe?
#include "perf/candidate/contract_run.h"
#include "perf/cli/commands.h"
#include "perf/judge/atomic_file.h"
#include "perf/judge/gate.h"
#include "perf/judge/sinks.h"
#include "perf/judge/table.h"
#include "perf/judge/temporary_folder.h"
#include "perf/measure/child_process.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <ostream>

namespace kg::cli {
namespace {

namespace fs = std::filesystem;
using candidate::ContractRun;
using candidate::How;
using candidate::Programs;

const perf::Operation& operation_named(const World& world, const std::string& op) {
  for (const perf::Operation& operation : world.operations)
    if (operation.name == op) return operation;
  throw UsageError(fmt::format("there is no operation {}; `kernelgrade list` has them", op));
}

// The shared object, or the compiler's words.
fs::path compile(const Programs& programs, const Options& options, bool checked,
                 const fs::path& folder, std::string& errors) {
  const fs::path library = folder / (checked ? "candidate.checked.so" : "candidate.so");
  std::vector<std::string> command = {"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh",
                                      programs.compile.string()};
  if (checked) command.emplace_back("checked");
  command.insert(command.end(), {fs::absolute(options.candidate).string(), library.string(),
                                 (folder / "work").string()});
  command.insert(command.end(), options.compile_options.begin(), options.compile_options.end());
  const perf::Finished finished = perf::run_process(command, perf::Output::capture);
  errors = finished.exit_code == 0 ? "" : finished.output;
  return library;
}

// The types that the candidate has; a mistake where it has none, or where --without names no test.
std::vector<std::string> claimed(const Programs& programs, const Options& options,
                                 const fs::path& library) try {
  const candidate::Listed listed = candidate::list(programs, options.tried_op, library);
  for (const std::string& dtype : options.tried_dtypes)
    if (std::find(listed.dtypes.begin(), listed.dtypes.end(), dtype) == listed.dtypes.end())
      throw Error(fmt::format("--dtype {}: the source defines no function of it; it has {}", dtype,
                              fmt::join(listed.dtypes, ", ")));
  for (const std::string& test : options.without)
    if (std::find(listed.tests.begin(), listed.tests.end(), test) == listed.tests.end())
      throw Error(fmt::format("--without {}: the contract has no such test; it has {}", test,
                              fmt::join(listed.tests, ", ")));
  return options.tried_dtypes.empty() ? listed.dtypes : options.tried_dtypes;
} catch (const Error& error) {
  throw UsageError(error.what());
}

// Each way in which the contract is run.
std::vector<How> ways(const Programs& programs, const fs::path& plain, const fs::path& checked) {
  const std::string small = "KERNELGRADE_VIRTUAL_DEVICE=small";
  return {{"as compiled", programs.try_plain, plain, {}},
          {"checked", programs.try_checked, checked, {small}},
          {"checked, reverse order",
           programs.try_checked,
           checked,
           {small, "KERNELGRADE_THREAD_ORDER=reverse"}},
          {"checked, random order",
           programs.try_checked,
           checked,
           {small, "KERNELGRADE_THREAD_ORDER=random:20260117"}}};
}

// What did not pass, each message once, with the first run that has it.
void show_failures(const std::vector<ContractRun>& runs, std::ostream& out) {
  std::vector<std::string> known;
  for (const ContractRun& run : runs) {
    const auto show = [&](const std::string& test, const std::string& message) {
      if (message.starts_with("not run: ")) return; // for what has been said already
      if (std::find(known.begin(), known.end(), message) != known.end()) return;
      known.push_back(message);
      out << fmt::format("\n{} {} ({}):\n  {}\n", run.dtype, test, run.how,
                         judge::for_console(message));
    };
    if (!run.broken.empty()) show("", run.broken);
    for (const candidate::TestResult& test : run.tests)
      if (!test.passed) show(test.name, test.message);
  }
}

std::string outcome(const ContractRun& run) {
  if (!run.broken.empty()) return "FAILED: " + run.broken;
  const auto failed =
      std::count_if(run.tests.begin(), run.tests.end(), [](const auto& t) { return !t.passed; });
  return failed == 0 ? fmt::format("{} passed", run.tests.size())
                     : fmt::format("{} of {} FAILED", failed, run.tests.size());
}

} // namespace

int try_candidate(const Options& options, World& world) {
  const perf::Operation& operation = operation_named(world, options.tried_op);
  const Programs programs = candidate::programs_beside(world.executable);
  if (options.signature) {
    const perf::Finished printed = perf::run_process(
        {programs.try_plain.string(), operation.name, "--signature"}, perf::Output::capture);
    require(printed.exit_code == 0, fmt::format("{} has no card yet", operation.name));
    world.out << printed.output;
    return judge::kExitPass;
  }
  if (options.candidate.empty())
    throw UsageError("which source? kernelgrade try OP FILE.cu, or kernelgrade try OP --signature");
  if (!fs::is_regular_file(options.candidate))
    throw UsageError(fmt::format("{}: there is no such file", options.candidate.string()));

  const judge::TemporaryFolder folder;
  std::string errors;
  const fs::path plain = compile(programs, options, false, folder.path(), errors);
  const fs::path checked =
      errors.empty() ? compile(programs, options, true, folder.path(), errors) : fs::path();
  if (!errors.empty()) {
    world.out << judge::for_console(errors) << "\nFAILED: it does not compile\n";
    return judge::kExitFail;
  }

  std::vector<ContractRun> runs;
  const std::vector<std::string> dtypes = claimed(programs, options, plain);
  for (const std::string& dtype : dtypes) {
    bool wrong = false;
    for (const How& how : ways(programs, plain, checked)) {
      runs.push_back(
          candidate::run_contract(how, operation.name, dtype, options.without, folder.path()));
      // What is wrong is not tried in other orders; the checkers may say why.
      if (how.program == programs.try_checked && !runs.back().passed()) break;
      if (how.program == programs.try_checked && wrong) break;
      wrong = wrong || !runs.back().passed();
    }
  }

  judge::TextTable table({"type", "contract", ""});
  for (const ContractRun& run : runs) table.add({run.dtype, run.how, outcome(run)});
  world.out << table.plain();
  show_failures(runs, world.out);
  std::vector<std::string> unclaimed;
  for (const Dtype dtype : operation.dtypes)
    if (std::find(dtypes.begin(), dtypes.end(), name(dtype)) == dtypes.end())
      unclaimed.emplace_back(name(dtype));
  if (!unclaimed.empty())
    world.out << fmt::format("\nnot claimed, not judged: {}\n", fmt::join(unclaimed, ", "));
  if (!options.without.empty())
    world.out << fmt::format("not claimed, not judged: {}\n", fmt::join(options.without, ", "));
  const bool passed = !runs.empty() && std::all_of(runs.begin(), runs.end(),
                                                   [](const auto& run) { return run.passed(); });
  world.out << fmt::format("\n{}: {} for {}\n", passed ? "passed: right and safe" : "FAILED",
                           options.candidate.string(), operation.name);
  if (!options.json.empty()) {
    nlohmann::json json = {{"schema", 1},
                           {"op", operation.name},
                           {"source", options.candidate.string()},
                           {"passed", passed},
                           {"not_claimed", unclaimed},
                           {"without", options.without},
                           {"runs", nlohmann::json::array()}};
    for (const ContractRun& run : runs) json["runs"].push_back(to_json(run));
    judge::write_file(options.json, json.dump(2) + "\n");
  }
  return passed ? judge::kExitPass : judge::kExitFail;
}

} // namespace kg::cli
