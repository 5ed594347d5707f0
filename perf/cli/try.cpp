// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade try: checks an external kernel for an operation that has a card: correctness, safety
// and costs.
#include "perf/cli/candidate/contract_run.h"
#include "perf/cli/candidate/costs.h"
#include "perf/cli/candidate/process.h"
#include "perf/cli/candidate/ptx_source.h"
#include "perf/cli/candidate/taken.h"
#include "perf/cli/exec_program.h"
#include "perf/cli/lab_commands.h"
#include "perf/code/resources/occupancy.h"
#include "perf/format/sinks.h"
#include "perf/format/table.h"
#include "perf/judge/gate.h"
#include "runtime/atomic_file.h"
#include "runtime/temporary_folder.h"

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
  throw UsageError(fmt::format("unknown operation {}; `kernelgrade list` has them", op));
}

// The source of the functions that the operation requires.
std::string signature_of(const Programs& programs, const std::string& op) {
  const perf::Finished printed =
      perf::run_process({programs.try_plain.string(), op, "--signature"}, perf::Output::capture);
  require(printed.exit_code == 0, fmt::format("no signature of {0}; {1} {0} --signature says why",
                                              op, programs.try_plain.string()));
  return printed.output;
}

// The source compiled for the host: the candidate, or the source that launches its PTX.
fs::path source_for_host(const Programs& programs, const TryOptions& attempt,
                         const fs::path& folder) {
  if (attempt.candidate.extension() != ".ptx") {
    if (attempt.launch != candidate::PtxLaunch())
      throw UsageError("--entry, --function, --grid, --block, --shared and --arguments are for "
                       "PTX; a CUDA source launches its kernels itself");
    return attempt.candidate;
  }
  try {
    const fs::path source = folder / "launch.cu";
    write_file(source, candidate::source_of(attempt.candidate, attempt.launch,
                                            signature_of(programs, attempt.op)));
    return source;
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

// The shared object, or the compiler's message in `errors`.
fs::path compile(const Programs& programs, const Options& options, const fs::path& source,
                 bool checked, const fs::path& folder, std::string& errors) {
  const fs::path library = folder / (checked ? "candidate.checked.so" : "candidate.so");
  std::vector<std::string> command = {programs.compile.string(),     "library",
                                      checked ? "checked" : "plain", library.string(),
                                      (folder / "work").string(),    fs::absolute(source).string()};
  command.insert(command.end(), options.attempt.compile_options.begin(),
                 options.attempt.compile_options.end());
  const perf::Finished finished =
      candidate::run_guarded(programs.guard, command, candidate::kCompileSeconds, folder);
  errors = finished.exit_code == 0 ? "" : finished.output;
  return library;
}

// The candidate's types. Throws if it has none, or if --without names an unknown test.
std::vector<std::string> claimed(const Programs& programs, const Options& options,
                                 const fs::path& library) try {
  const candidate::Listed listed =
      candidate::list(programs, options.attempt.op, library, options.attempt.shapes);
  for (const std::string& dtype : options.attempt.dtypes)
    if (std::find(listed.dtypes.begin(), listed.dtypes.end(), dtype) == listed.dtypes.end())
      throw Error(fmt::format("--dtype {}: the source defines no function of it; it has {}", dtype,
                              fmt::join(listed.dtypes, ", ")));
  for (const std::string& test : options.attempt.without)
    if (std::find(listed.tests.begin(), listed.tests.end(), test) == listed.tests.end())
      throw Error(fmt::format("--without {}: there is no such conformance test; the tests are {}",
                              test, fmt::join(listed.tests, ", ")));
  return options.attempt.dtypes.empty() ? listed.dtypes : options.attempt.dtypes;
} catch (const candidate::Broken&) {
  throw;
} catch (const Error& error) {
  throw UsageError(error.what());
}

// The configurations in which the conformance tests run.
std::vector<How> ways(const Programs& programs, const fs::path& plain, const fs::path& checked,
                      bool huge) {
  const std::string small = "KERNELGRADE_VIRTUAL_DEVICE=small";
  std::vector<How> all = {{"as compiled", programs.try_plain, plain, programs.guard, {}},
                          {"checked", programs.try_checked, checked, programs.guard, {small}},
                          {"checked, reverse order",
                           programs.try_checked,
                           checked,
                           programs.guard,
                           {small, "KERNELGRADE_THREAD_ORDER=reverse"}},
                          {"checked, random order",
                           programs.try_checked,
                           checked,
                           programs.guard,
                           {small, "KERNELGRADE_THREAD_ORDER=random:20260117"}}};
  if (huge) all.push_back({"huge", programs.try_checked, checked, programs.guard, {}, true});
  return all;
}

struct Failure {
  std::string where, message;
};

// The failures, each message once, with the first run that has it.
std::vector<Failure> failures(const std::vector<ContractRun>& runs) {
  std::vector<Failure> found;
  for (const ContractRun& run : runs) {
    const auto add = [&](const std::string& test, const std::string& message) {
      if (message.starts_with("not run: ")) return; // the cause was reported already
      if (std::none_of(found.begin(), found.end(),
                       [&](const Failure& known) { return known.message == message; }))
        found.push_back({fmt::format("{} {} ({})", run.dtype, test, run.how), message});
    };
    if (!run.broken.empty()) add("", run.broken);
    for (const candidate::TestResult& test : run.tests)
      if (!test.passed) add(test.name, test.message);
  }
  return found;
}

std::string outcome(const ContractRun& run) {
  if (!run.broken.empty()) return "FAILED: " + run.broken;
  const auto failed =
      std::count_if(run.tests.begin(), run.tests.end(), [](const auto& t) { return !t.passed; });
  return failed == 0 ? fmt::format("{} passed", run.tests.size())
                     : fmt::format("{} of {} FAILED", failed, run.tests.size());
}

// All results for a candidate.
struct Judged {
  std::vector<std::string> unclaimed; // types
  std::vector<ContractRun> runs;
  candidate::Costs costs;              // of the types that passed
  std::vector<std::string> above_cost; // costs above --max-cost
  candidate::Taken taken;

  bool contract_passed() const {
    return !runs.empty() &&
           std::all_of(runs.begin(), runs.end(), [](const auto& run) { return run.passed(); });
  }
  bool passed() const {
    return contract_passed() && costs.broken.empty() && above_cost.empty() && taken.refused.empty();
  }
};

// Runs the conformance tests in every configuration; returns whether they passed.
bool run_in_all_ways(const std::string& dtype, const std::vector<How>& all, const Options& options,
                     const fs::path& folder, std::vector<ContractRun>& runs) {
  bool wrong = false;
  for (const How& how : all) {
    runs.push_back(candidate::run_contract(how, options.attempt.op, dtype, options.attempt.shapes,
                                           options.attempt.without, folder));
    const bool checked = &how != &all.front();
    const bool passed = runs.back().passed();
    // A wrong result is not tried in other orders, but the checkers may show the cause.
    if (checked && (wrong || !passed)) return false;
    wrong = wrong || !passed;
  }
  return !wrong;
}

Judged judge_candidate(const perf::Operation& operation, const Programs& programs,
                       const Options& options, const std::vector<std::string>& dtypes,
                       const fs::path& plain, const fs::path& checked, const fs::path& folder) {
  Judged judged;
  for (const Dtype dtype : operation.dtypes)
    if (std::find(dtypes.begin(), dtypes.end(), name(dtype)) == dtypes.end())
      judged.unclaimed.emplace_back(name(dtype));
  std::vector<std::string> right; // a wrong type's costs are not counted
  for (const std::string& dtype : dtypes)
    if (run_in_all_ways(dtype, ways(programs, plain, checked, options.attempt.huge), options,
                        folder, judged.runs))
      right.push_back(dtype);
  judged.costs = candidate::count_costs(programs, operation.name, right, options.attempt.shapes,
                                        checked, folder);
  if (options.attempt.max_cost) judged.above_cost = judged.costs.above(*options.attempt.max_cost);
  judged.taken = candidate::compile_for_gpu(programs, options.attempt.candidate,
                                            options.attempt.compile_options, options.arch,
                                            judged.costs.launches, folder);
  return judged;
}

judge::TextTable contract_table(const Judged& judged) {
  judge::TextTable table({"type", "contract", ""});
  for (const ContractRun& run : judged.runs) table.add({run.dtype, run.how, outcome(run)});
  return table;
}

// Types that the candidate lacks, and costs that are unknown or too high.
std::vector<std::string> remarks(const Judged& judged, const Options& options) {
  std::vector<std::string> lines;
  for (const std::string& line : judged.costs.broken)
    lines.push_back("costs: not counted: " + line);
  lines.insert(lines.end(), judged.above_cost.begin(), judged.above_cost.end());
  for (const auto* each : {&judged.unclaimed, &options.attempt.without})
    if (!each->empty())
      lines.push_back(fmt::format("not claimed, not judged: {}", fmt::join(*each, ", ")));
  return lines;
}

std::string verdict(const Judged& judged, const Options& options) {
  return fmt::format("{}: {} for {}", judged.passed() ? "passed: correct and safe" : "FAILED",
                     options.attempt.candidate.string(), options.attempt.op);
}

void show(const report::Section& section, std::ostream& out) {
  out << "\n";
  if (section.table) out << section.table->plain();
  for (const std::string& line : section.lines)
    out << (section.table ? "  " : "") << judge::for_console(line) << "\n";
}

void show(const Judged& judged, const Options& options, std::ostream& out) {
  out << contract_table(judged).plain();
  for (const Failure& failure : failures(judged.runs))
    out << fmt::format("\n{}:\n  {}\n", failure.where, judge::for_console(failure.message));
  if (!judged.costs.all.empty()) show(candidate::costs_section(judged.costs), out);
  show(candidate::taken_section(judged.taken), out);
  const std::vector<std::string> lines = remarks(judged, options);
  if (!lines.empty()) show({"", lines}, out);
  out << "\n" << verdict(judged, options) << "\n";
}

// The same as an HTML page.
std::string page(const Judged& judged, const Options& options) {
  std::vector<report::Section> sections = {{verdict(judged, options), remarks(judged, options)},
                                           {"Contract", {}, contract_table(judged)}};
  for (Failure& failure : failures(judged.runs))
    sections.push_back({std::move(failure.where), {std::move(failure.message)}});
  if (!judged.costs.all.empty()) sections.push_back(candidate::costs_section(judged.costs));
  sections.push_back(candidate::taken_section(judged.taken));
  std::string body;
  for (const report::Section& section : sections) body += report::html_of(section);
  return report::html_page(fmt::format("Kernelgrade try {}: {}", options.attempt.op,
                                       options.attempt.candidate.filename().string()),
                           body);
}

nlohmann::json to_json(const Judged& judged, const Options& options) {
  nlohmann::json json = {{"schema", 1},
                         {"op", options.attempt.op},
                         {"source", options.attempt.candidate.string()},
                         {"passed", judged.passed()},
                         {"sandbox", candidate::sandbox().on},
                         {"not_claimed", judged.unclaimed},
                         {"shapes", options.attempt.shapes},
                         {"without", options.attempt.without},
                         {"runs", nlohmann::json::array()},
                         {"costs", to_json(judged.costs)},
                         {"costs_broken", judged.costs.broken},
                         {"above_max_cost", judged.above_cost},
                         {"resources", to_json(judged.taken)}};
  for (const ContractRun& run : judged.runs) json["runs"].push_back(candidate::to_json(run));
  return json;
}

} // namespace

int try_candidate(const Options& options, World& world) {
  const perf::Operation& operation = operation_named(world, options.attempt.op);
  const fs::path folder_of_programs = world.executable.parent_path();
  for (const char* program :
       {"kernelgrade-try", "kernelgrade-try-checked", "kernelgrade-try-counted"})
    need(world, folder_of_programs / program, "try",
         "candidates are tested by the CPU emulator's build with g++ (cmake --preset host)");
  const Programs programs = candidate::programs_beside(world.executable);
  if (options.attempt.signature) {
    world.out << signature_of(programs, operation.name);
    return judge::kExitPass;
  }
  if (options.attempt.candidate.empty())
    throw UsageError("which source? kernelgrade try OP FILE.cu (or FILE.ptx), or kernelgrade try "
                     "OP --signature");
  if (!fs::is_regular_file(options.attempt.candidate))
    throw UsageError(fmt::format("{}: no such file", options.attempt.candidate.string()));
  try {
    resources::sm_limits(options.arch);
  } catch (const Error& error) {
    throw UsageError(std::string("--arch: ") + error.what());
  }

  const TemporaryFolder folder;
  if (const candidate::Sandbox sandbox = candidate::sandbox(); sandbox.on)
    world.err << sandbox.words << "\n";
  std::string errors;
  const fs::path source = source_for_host(programs, options.attempt, folder.path());
  const auto not_compiled = [&] {
    world.out << judge::for_console(errors) << "\nFAILED: it does not compile\n";
    return judge::kExitFail;
  };
  Judged judged;
  try {
    const fs::path plain = compile(programs, options, source, false, folder.path(), errors);
    if (!errors.empty()) return not_compiled();
    // Usage errors are reported before more is compiled.
    const std::vector<std::string> dtypes = claimed(programs, options, plain);
    const fs::path checked = compile(programs, options, source, true, folder.path(), errors);
    if (!errors.empty()) return not_compiled();
    judged = judge_candidate(operation, programs, options, dtypes, plain, checked, folder.path());
  } catch (const candidate::Broken& broken) {
    world.out << "\nFAILED: " << judge::for_console(broken.what()) << "\n";
    return judge::kExitFail;
  }
  show(judged, options, world.out);
  if (!options.json.empty())
    write_file(options.json, judge::for_json(to_json(judged, options), 2) + "\n");
  if (!options.attempt.html.empty()) write_file(options.attempt.html, page(judged, options));
  return judged.passed() ? judge::kExitPass : judge::kExitFail;
}

} // namespace kg::cli
