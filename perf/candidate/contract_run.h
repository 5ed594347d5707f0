// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Somebody else's kernel, compiled and held to the contract of an operation (tests/contract), each
// run in a process of its own.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kg::candidate {

// The programs that a build leaves beside `kernelgrade`.
struct Programs {
  std::filesystem::path compile;     // a script: [checked] SOURCE LIBRARY FOLDER [OPTION...]
  std::filesystem::path try_plain;   // kernelgrade-try
  std::filesystem::path try_checked; // kernelgrade-try-checked
};
// Throws Error that names what is missing and how to build it.
Programs programs_beside(const std::filesystem::path& kernelgrade);

struct TestResult {
  std::string name; // of the contract: "ExactFill"
  bool passed = false;
  std::string message; // of the first failure: what the checkers say, or the test
};

// One run of the contract in one type.
struct ContractRun {
  std::string dtype;
  std::string how; // "as compiled", "checked", "checked, reverse order", ...
  std::vector<TestResult> tests;
  std::string broken; // why not all of it ran; empty if it did
  std::string again;  // the command that repeats it

  bool passed() const;
};

// The types of which the library has functions, in the order of the contract's; throws Error with
// the program's words where there are none.
std::vector<std::string> dtypes_of(const Programs& programs, const std::string& op,
                                   const std::filesystem::path& library);

struct How {
  std::string words;
  std::filesystem::path program, library;
  std::vector<std::string> environment; // "NAME=value"
};
// Without the tests of `without`. A run takes at most 10 minutes.
ContractRun run_contract(const How& how, const std::string& op, const std::string& dtype,
                         const std::vector<std::string>& without,
                         const std::filesystem::path& folder);

nlohmann::json to_json(const ContractRun& run);

} // namespace kg::candidate
