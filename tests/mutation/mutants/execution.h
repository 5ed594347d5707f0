// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a mutant's test program until a test detects the mutant.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/mutation/mutants/spec.h"

namespace kg::mutants {

enum class End { survived, killed, crashed, timed_out };

struct Outcome {
  End end = End::survived;
  std::string test;    // that failed, crashed or timed out
  std::string check;   // classify.h, if it was killed
  std::string message; // the failed assertion's
  int tests = 0;       // number of started tests
  double seconds = 0;
};

class Executor {
 public:
  // The environment variables that select a mutant, or "none".
  using Choice = std::function<std::vector<std::string>(const std::string& mutant)>;
  static std::vector<std::string> by_switch(const std::string& mutant); // switch.h

  // `program`: <op>_mutants_test; `limit`: seconds per run.
  Executor(std::string program, int limit, Choice choice = by_switch);

  // Runs the tests that are expected to find the mutant and, if none does, all others. A test that
  // crashes or times out is set aside, since another test may give a better message. A kill counts
  // only if the same test passes without a mutant; otherwise throws kg::Error.
  Outcome hunt(const Mutant& mutant);

  // Time spent on running tests without a mutant.
  double clean_seconds() const { return clean_seconds_; }

 private:
  Outcome run_once(const std::string& mutant, const std::string& filter) const;
  Outcome run_until_spoken(const std::string& mutant, const std::string& chosen,
                           const std::string& excluded) const;
  void require_clean(const std::string& test);

  std::string program_;
  int limit_;
  Choice choice_;
  std::set<std::string> clean_; // tests that pass without a mutant
  double clean_seconds_ = 0;
};

// The outcome of one run, from its output (protocol.h) and its exit code as a shell reports it (124
// from timeout(1)). Throws kg::Error if the program refused to run.
Outcome outcome_of(const std::string& output, int exit_code);

} // namespace kg::mutants
