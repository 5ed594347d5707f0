// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiles an external kernel and runs an operation's conformance tests (tests/contract), each in
// its own process.
#pragma once

#include "runtime/error.h"

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kg::candidate {

// The programs built next to `kernelgrade`.
struct Programs {
  std::filesystem::path compile;     // a script: cmake/compile_cuda.sh.in
  std::filesystem::path try_plain;   // kernelgrade-try
  std::filesystem::path try_checked; // kernelgrade-try-checked
  std::filesystem::path try_counted; // kernelgrade-try-counted
  std::filesystem::path guard;       // kernelgrade-guard, which supervises all of them
};
// Throws Error naming what is missing and how to build it.
Programs programs_beside(const std::filesystem::path& kernelgrade);

struct TestResult {
  std::string name; // of the conformance test: "ExactFill"
  bool passed = false;
  std::string message; // of the first failure, from the checkers or the test
};

// One run of the conformance tests in one type.
struct ContractRun {
  std::string dtype;
  std::string how; // "as compiled", "checked", "huge", ...
  std::vector<TestResult> tests;
  std::string broken; // why some tests did not run; empty if all did

  bool passed() const;
};

// The library ended or crashed the process that loaded it: the library's failure, not a usage error
// of ours.
class Broken : public Error {
 public:
  using Error::Error;
};

// What can run: the types for which the library has functions, and the conformance tests.
struct Listed {
  std::vector<std::string> dtypes, tests;
};
// Throws Broken; or Error with the program's message if the library cannot be loaded or has no
// function; or Error if a shape is invalid or the library has no function for it.
Listed list(const Programs& programs, const std::string& op, const std::filesystem::path& library,
            const std::vector<std::string>& shapes);

struct How {
  std::string words;
  std::filesystem::path program, library, guard;
  std::vector<std::string> environment; // "NAME=value"
  bool huge = false;                    // run RowsBeyond32Bits instead of the conformance tests
};
// Tests these shapes in addition to the standard ones, without the tests in `without`. A run takes
// at most 10 minutes.
ContractRun run_contract(const How& how, const std::string& op, const std::string& dtype,
                         const std::vector<std::string>& shapes,
                         const std::vector<std::string>& without,
                         const std::filesystem::path& folder);

nlohmann::json to_json(const ContractRun& run);

} // namespace kg::candidate
