// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/mutation/mutants/execution.h"

#include <chrono>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "perf/measure/child_process.h"
#include "runtime/error.h"
#include "tests/mutation/mutants/classify.h"
#include "tests/mutation/mutants/protocol.h"
#include "tests/support/run_tests.h"

namespace kg::mutants {

namespace {

constexpr int kTimedOut = 124; // timeout(1)

std::string line_at(const std::string& text, std::size_t begin) {
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::string filter_of(const std::string& chosen, const std::string& excluded) {
  return excluded.empty() ? chosen : fmt::format("{}-{}", chosen, excluded);
}

} // namespace

Outcome outcome_of(const std::string& output, int exit_code) {
  Outcome outcome;
  for (std::size_t at = output.find(kStarted); at != std::string::npos;
       at = output.find(kStarted, at + 1)) {
    ++outcome.tests;
    outcome.test = line_at(output, at + kStarted.size());
  }
  const std::size_t failed = output.find(kFailed);
  // run_tests.h: also 1 if the filter leaves no test.
  const bool nothing_left = outcome.tests == 0 && exit_code == EXIT_FAILURE;
  if (failed != std::string::npos) {
    outcome.end = End::killed;
    outcome.message = output.substr(failed + kFailed.size());
    outcome.check = check_of(outcome.message);
  } else if (exit_code == kTimedOut) {
    outcome.end = End::timed_out;
  } else if (exit_code == EXIT_SUCCESS || exit_code == test::kExitSkipped || nothing_left) {
    outcome.test.clear();
  } else {
    require(outcome.tests > 0,
            fmt::format("the program ended with {} before its first test", exit_code));
    outcome.end = End::crashed;
  }
  return outcome;
}

std::vector<std::string> Executor::by_switch(const std::string& mutant) {
  return {"KERNELGRADE_MUTANT=" + mutant};
}

Executor::Executor(std::string program, int limit, Choice choice)
    : program_(std::move(program)), limit_(limit), choice_(std::move(choice)) {}

Outcome Executor::run_once(const std::string& mutant, const std::string& filter) const {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<std::string> chosen = choice_(mutant);
  std::vector<std::string> command = {"env"};
  command.insert(command.end(), chosen.begin(), chosen.end());
  for (const std::string& word :
       {std::string("timeout"), std::to_string(limit_), program_, "--gtest_filter=" + filter})
    command.push_back(word);
  const perf::Finished finished = perf::run_process(command, perf::Output::capture);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  try {
    Outcome outcome = outcome_of(finished.output, finished.exit_code);
    outcome.seconds = spent.count();
    return outcome;
  } catch (const Error& error) {
    fail(fmt::format("{} {} --gtest_filter='{}': {}", fmt::join(chosen, " "), program_, filter,
                     error.what()));
  }
}

Outcome Executor::run_until_spoken(const std::string& mutant, const std::string& chosen,
                                   const std::string& excluded) const {
  std::string aside = excluded;
  Outcome speechless; // the first crash or timeout, if any
  for (;;) {
    Outcome outcome = run_once(mutant, filter_of(chosen, aside));
    outcome.seconds += std::exchange(speechless.seconds, 0);
    outcome.tests += std::exchange(speechless.tests, 0);
    if (outcome.end == End::killed) return outcome;
    if (outcome.end == End::survived) {
      speechless.seconds = outcome.seconds;
      speechless.tests = outcome.tests;
      return speechless;
    }
    aside += (aside.empty() ? "" : ":") + outcome.test;
    if (speechless.end == End::survived) speechless = outcome;
    speechless.seconds = outcome.seconds;
    speechless.tests = outcome.tests;
  }
}

Outcome Executor::hunt(const Mutant& mutant) {
  const std::string expected = mutant.tests.empty() ? "*" : mutant.tests;
  Outcome outcome = run_until_spoken(mutant.name, expected, "");
  require(outcome.tests > 0, fmt::format("mutant \"{}\": no test of {} fits \"tests\": {}",
                                         mutant.name, program_, expected));
  if (outcome.end != End::killed && expected != "*") {
    Outcome rest = run_until_spoken(mutant.name, "*", expected);
    rest.seconds += outcome.seconds;
    outcome.seconds = rest.seconds;
    if (rest.end != End::survived) outcome = rest;
  }
  if (outcome.end == End::killed) require_clean(outcome.test);
  return outcome;
}

void Executor::require_clean(const std::string& test) {
  if (!clean_.insert(test).second) return;
  const Outcome outcome = run_once("none", test);
  clean_seconds_ += outcome.seconds;
  require(outcome.end == End::survived,
          fmt::format("{} fails without any mutant, too: {}\n  again: {} --gtest_filter={}", test,
                      outcome.message, program_, test));
}

} // namespace kg::mutants
