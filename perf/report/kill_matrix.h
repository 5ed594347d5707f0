// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which mutants of an operation the tests killed, and by which check. Reads the output of
// kill_matrix (tests/mutation/mutants).
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
  std::string why;   // the defect
  bool killed = false;
  std::string check; // the check that killed it, or why it survived
  std::string expected;
  std::string test;    // the test that killed it
  std::string message; // of that test
};

struct KillMatrix {
  std::string op;
  std::vector<Mutant> mutants;
};

// Throws Error with `file` if a member is missing.
KillMatrix kill_matrix_from(const nlohmann::json& root, const std::string& file);

std::size_t killed(const KillMatrix& matrix);

// The command that repeats the tests with this mutant.
std::string mutant_command(const KillMatrix& matrix, const Mutant& mutant);

nlohmann::json to_json(const KillMatrix& matrix);

// One test per mutant, which passes if the mutant was killed.
TestSuite junit_suite(const KillMatrix& matrix);

} // namespace kg::report
