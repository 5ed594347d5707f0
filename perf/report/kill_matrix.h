// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which of an operation's seeded bugs its tests found, and by which check: what kill_matrix
// (tests/mutation/mutants) writes.
#pragma once

#include "perf/report/junit.h"

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kg::report {

struct Mutant {
  std::string name;
  std::string place; // file and line of the original
  std::string why;   // what is wrong with it
  bool killed = false;
  std::string check; // that killed it, or how it got away
  std::string expected;
  std::string test;    // that killed it
  std::string message; // that test's
};

struct KillMatrix {
  std::string op;
  std::vector<Mutant> mutants;
};

// Throws Error, naming `file`, where something is missing.
KillMatrix kill_matrix_from(const nlohmann::json& root, const std::string& file);

std::size_t killed(const KillMatrix& matrix);

// The command that runs the tests with this mutant again.
std::string mutant_command(const KillMatrix& matrix, const Mutant& mutant);

nlohmann::json to_json(const KillMatrix& matrix);

// A test per mutant, which passes where the mutant was killed.
TestSuite junit_suite(const KillMatrix& matrix);

} // namespace kg::report
