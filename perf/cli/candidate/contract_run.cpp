// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/candidate/contract_run.h"

#include "perf/cli/candidate/process.h"
#include "perf/format/json_reader.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "runtime/without_places.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <sstream>

namespace kg::candidate {
namespace {

namespace fs = std::filesystem;

// The checkers' message with its hint; otherwise the first meaningful line of a failure.
std::string said(const std::string& output, const std::string& test) {
  std::istringstream lines(output);
  std::string line, found;
  bool within = false;
  while (std::getline(lines, line)) {
    if (line.starts_with("[ RUN ")) within = line.ends_with("." + test);
    if (!within || line.starts_with("[")) continue;
    if (line.starts_with("kernelgrade: ")) {
      found = line.substr(line.find(": ", 13) + 2);
      if (std::getline(lines, line) && line.starts_with("  hint: ")) found += "\n" + line;
      return found;
    }
  }
  return "";
}

// The conformance test's own message within GoogleTest's failure text.
std::string own_words(const std::string& failure) {
  constexpr std::string_view kException = "C++ exception with description \"";
  if (const std::size_t at = failure.find(kException); at != std::string::npos) {
    const std::string text = failure.substr(at + kException.size());
    return without_places(text.substr(0, text.rfind("\" thrown")));
  }
  constexpr std::string_view kActual = "Actual: false (";
  if (const std::size_t at = failure.find(kActual); at != std::string::npos) {
    const std::size_t from = at + kActual.size();
    const std::size_t which = failure.find("\n  case ", from); // the shape and the data
    return failure.substr(from, failure.find("\n  first", from) - from) +
           (which == std::string::npos
                ? ""
                : failure.substr(which, failure.find('\n', which + 1) - which));
  }
  // Compared values only help readers who know the test's code, so only texts and messages are
  // shown.
  constexpr std::string_view kText = "    Which is: \"";
  std::istringstream lines(failure);
  std::string line, words;
  std::getline(lines, line); // file and line
  while (std::getline(lines, line) && line != "Google Test trace:") {
    if (line.starts_with(kText))
      line = line.substr(kText.size(), line.size() - kText.size() - 1);
    else if (line.starts_with(" ") || line.starts_with("Value of: ") ||
             line.starts_with("Expected: ") || line.starts_with("Expected equality"))
      continue;
    if (!line.empty()) words += (words.empty() ? "" : "\n") + line;
  }
  return words.empty() ? failure : words;
}

} // namespace

Programs programs_beside(const fs::path& kernelgrade) {
  const fs::path folder = kernelgrade.parent_path();
  Programs programs{folder / "compile-cuda", folder / "kernelgrade-try",
                    folder / "kernelgrade-try-checked", folder / "kernelgrade-try-counted",
                    folder / "kernelgrade-guard"};
  for (const fs::path& program : {programs.compile, programs.try_plain, programs.try_checked,
                                  programs.try_counted, programs.guard})
    require(fs::exists(program),
            fmt::format(
                "{} is missing; build it by g++ on the CPU emulator: cmake --build {} --target try",
                program.string(), folder.parent_path().string()));
  return programs;
}

bool ContractRun::passed() const {
  return broken.empty() && !tests.empty() &&
         std::all_of(tests.begin(), tests.end(), [](const auto& test) { return test.passed; });
}

Listed list(const Programs& programs, const std::string& op, const fs::path& library,
            const std::vector<std::string>& shapes) {
  std::vector<std::string> command = {programs.try_plain.string(), op, library.string()};
  for (const std::string& shape : shapes) command.insert(command.end(), {"--shape", shape});
  command.emplace_back("--gtest_list_tests");
  const perf::Finished printed =
      run_guarded(programs.guard, command, kMostSeconds, library.parent_path());
  if (const std::size_t at = printed.output.rfind("FAILED: "); // it ended or crashed the process
      printed.exit_code != 0 && at != std::string::npos)
    throw Broken(printed.output.substr(at + 8, printed.output.find('\n', at) - at - 8));
  require(printed.exit_code == 0, printed.output);
  Listed listed;
  std::istringstream lines(printed.output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("Contract/"))
      listed.dtypes.push_back(line.substr(9, line.find('.') - 9));
    else if (line.starts_with("  ") && listed.dtypes.size() == 1)
      listed.tests.push_back(line.substr(2));
  }
  return listed;
}

ContractRun run_contract(const How& how, const std::string& op, const std::string& dtype,
                         const std::vector<std::string>& shapes,
                         const std::vector<std::string>& without, const fs::path& folder) {
  ContractRun run;
  run.dtype = dtype;
  run.how = how.words;
  const fs::path results = folder / "results.json";
  fs::remove(results);
  std::string filter = fmt::format("{}/{}.*", how.huge ? "Own" : "Contract", dtype);
  for (const std::string& test : without)
    filter += fmt::format("{}*.{}", &test == &without.front() ? "-" : ":", test);
  std::vector<std::string> command = how.environment;
  command.insert(command.end(), {how.program.string(), op, how.library.string()});
  if (how.huge) command.emplace_back("--huge");
  for (const std::string& shape : shapes) command.insert(command.end(), {"--shape", shape});
  command.push_back("--gtest_filter=" + filter);
  command.insert(command.begin(), "env");
  command.push_back("--gtest_output=json:" + results.string());
  const perf::Finished finished = run_guarded(how.guard, command, kMostSeconds, folder);

  if (const std::size_t at = finished.output.rfind("FAILED: ");
      at != std::string::npos && finished.exit_code != 0 && !fs::exists(results))
    run.broken = finished.output.substr(at + 8, finished.output.find('\n', at) - at - 8);
  else if (!fs::exists(results))
    run.broken = "it left no results: " + perf::ending(finished);
  if (!run.broken.empty()) return run;

  const nlohmann::json root = judge::parse_json(read_file(results).value_or(""), results.string());
  bool failed = false;
  for (const nlohmann::json& suite : root.at("testsuites"))
    for (const nlohmann::json& test : suite.at("testsuite")) {
      if (test.at("status") != "RUN") continue;
      TestResult result{test.at("name"), !test.contains("failures"), ""};
      if (!result.passed) {
        failed = true;
        result.message = said(finished.output, result.name);
        if (result.message.empty())
          result.message = own_words(test.at("failures").at(0).at("failure"));
      }
      run.tests.push_back(std::move(result));
    }
  if (failed != (finished.exit_code != 0))
    run.broken = "its exit code and its results disagree: " + perf::ending(finished);
  return run;
}

nlohmann::json to_json(const ContractRun& run) {
  nlohmann::json tests = nlohmann::json::array();
  for (const TestResult& test : run.tests)
    tests.push_back({{"name", test.name}, {"passed", test.passed}, {"message", test.message}});
  return {{"dtype", run.dtype},
          {"how", run.how},
          {"passed", run.passed()},
          {"tests", tests},
          {"broken", run.broken}};
}

} // namespace kg::candidate
