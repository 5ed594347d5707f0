// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/correctness.h"

#include "perf/judge/command.h"
#include "perf/judge/gate.h"
#include "runtime/error.h"

#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <sstream>

namespace kg::report {
namespace {

constexpr std::string_view kProgramEnd = "_test"; // <op>_test
constexpr const char* kAnyVariant = "any";        // evidence that holds for every variant

// "ledger.seen/<op>/<dtype>/<variant>/<evidence>", or ledger.required.
void take_evidence(const std::string& key, CorrectnessRun& run) {
  std::vector<std::string> parts;
  std::istringstream words(key);
  for (std::string word; std::getline(words, word, '/');) parts.push_back(word);
  constexpr std::size_t kParts = 5;
  if (parts.size() != kParts || !parts[0].starts_with("ledger.")) return;
  bool& shown = run.evidence[parts[3]][parts[4]];
  shown = shown || parts[0] == "ledger.seen";
}

std::string failures_of(const nlohmann::json& test) {
  std::vector<std::string> messages;
  for (const nlohmann::json& failure : test.at("failures"))
    messages.push_back(failure.at("failure").get<std::string>());
  return fmt::format("{}", fmt::join(messages, "\n"));
}

void take_test(const std::string& suite, const nlohmann::json& test, CorrectnessRun& run) {
  const std::string result = test.at("result"),
                    name = suite + "." + test.at("name").get<std::string>();
  if (test.at("status") == "NOTRUN") return;
  const double seconds =
      std::strtod(test.at("time").get<std::string>().c_str(), nullptr); // "0.013s"
  run.seconds += seconds;
  for (const auto& [key, value] : test.items()) take_evidence(key, run);
  if (test.contains("failures"))
    run.failed.push_back({name, failures_of(test), seconds});
  else if (result == "SKIPPED")
    run.skipped.push_back(
        {name, test.value("skipped_because", std::string("no reason given")), seconds});
  else
    run.passed.push_back({name, "", seconds});
}

// Removes the variant "any", and copies its evidence to all other variants.
void spread_any(CorrectnessRun& run) {
  const auto any = run.evidence.extract(kAnyVariant);
  if (any.empty()) return;
  for (auto& [variant, kinds] : run.evidence)
    for (auto& [kind, shown] : kinds)
      if (const auto at = any.mapped().find(kind); at != any.mapped().end())
        shown = shown || at->second;
}

void fail_without_evidence(CorrectnessRun& run) {
  if (!run.failed.empty() || run.passed.empty())
    return; // a failed or skipped test shows no evidence
  for (const auto& [variant, kinds] : run.evidence)
    for (const auto& [kind, shown] : kinds)
      if (!shown)
        run.failed.push_back(
            {fmt::format("{}.{} {}", run.op, run.dtype, variant),
             fmt::format("no test of this variant records the coverage \"{}\" that "
                         "its tests demand",
                         kind)});
}

std::vector<CorrectnessRun> read(const nlohmann::json& root) {
  const std::string program = root.at("program");
  require(program.size() > kProgramEnd.size() && program.ends_with(kProgramEnd),
          fmt::format("its tests are of \"{}\", not of <op>{}", program, kProgramEnd));
  std::map<std::string, CorrectnessRun> runs; // by type
  for (const nlohmann::json& suite : root.at("testsuites")) {
    const std::string name = suite.at("name");
    const std::string dtype = name.substr(name.rfind('/') + 1); // "Softmax/f32"
    CorrectnessRun& run = runs[dtype];
    run.op = program.substr(0, program.size() - kProgramEnd.size());
    run.dtype = dtype;
    for (const nlohmann::json& test : suite.at("testsuite")) take_test(name, test, run);
  }
  std::vector<CorrectnessRun> result;
  for (auto& [dtype, run] : runs) {
    spread_any(run);
    fail_without_evidence(run);
    result.push_back(std::move(run));
  }
  return result;
}

nlohmann::json remarks(const std::vector<Remark>& list) {
  nlohmann::json result = nlohmann::json::array();
  for (const Remark& remark : list)
    result.push_back(
        {{"test", remark.test}, {"message", remark.message}, {"seconds", remark.seconds}});
  return result;
}

} // namespace

std::vector<CorrectnessRun> correctness_from(const nlohmann::json& root, const std::string& file) {
  try {
    std::vector<CorrectnessRun> runs = read(root);
    // A program without tests shows nothing.
    require(!runs.empty(), "it holds no tests");
    return runs;
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("{}: {}; run the correctness test again with --gtest_output=json:{}",
                            file, error.what(), file));
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}; name the file of a correctness test", file, error.what()));
  }
}

int exit_code(const CorrectnessRun& run) {
  // A run without passed and skipped tests fails.
  if (run.passed.empty() && run.skipped.empty()) return judge::kExitFail;
  return !run.failed.empty()   ? judge::kExitFail
         : !run.passed.empty() ? judge::kExitPass
                               : judge::kExitSkip;
}

std::string test_command(const std::string& op, const std::string& dtype) {
  return judge::ctest_command(fmt::format("-R '^correctness[.]{}[.]{}$'", op, dtype));
}

nlohmann::json to_json(const CorrectnessRun& run) {
  nlohmann::json passed = nlohmann::json::array();
  for (const Remark& test : run.passed)
    passed.push_back({{"test", test.test}, {"seconds", test.seconds}});
  return {{"op", run.op},
          {"dtype", run.dtype},
          {"again", test_command(run.op, run.dtype)},
          {"passed", run.passed.size()},
          {"passed_tests", passed},
          {"failed", remarks(run.failed)},
          {"skipped", remarks(run.skipped)},
          {"seconds", run.seconds},
          {"exit_code", exit_code(run)},
          {"evidence", run.evidence}};
}

TestSuite junit_suite(const CorrectnessRun& run) {
  TestSuite suite{fmt::format("correctness.{}.{}", run.op, run.dtype), {}};
  const std::string again = "\nagain: " + test_command(run.op, run.dtype);
  for (const Remark& test : run.failed)
    suite.cases.push_back(
        {suite.name, test.test, test.seconds, judge::kExitFail, "failed", test.message + again});
  for (const Remark& test : run.skipped)
    suite.cases.push_back(
        {suite.name, test.test, test.seconds, judge::kExitSkip, "skipped", test.message});
  for (const Remark& test : run.passed)
    suite.cases.push_back({suite.name, test.test, test.seconds, judge::kExitPass, "passed", ""});
  return suite;
}

} // namespace kg::report
