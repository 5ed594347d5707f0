// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Somebody else's kernel, compiled and held to the contract of an operation (tests/contract), each
// run in a process of its own.
#pragma once

#include "runtime/error.h"

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kg::candidate {

// The programs that a build leaves beside `kernelgrade`.
struct Programs {
  std::filesystem::path compile;     // a script: cmake/compile_cuda.sh.in
  std::filesystem::path try_plain;   // kernelgrade-try
  std::filesystem::path try_checked; // kernelgrade-try-checked
  std::filesystem::path try_counted; // kernelgrade-try-counted
  std::filesystem::path guard;       // kernelgrade-guard, which all of them run below
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
  std::string how; // "as compiled", "checked", "huge", ...
  std::vector<TestResult> tests;
  std::string broken; // why not all of it ran; empty if it did

  bool passed() const;
};

// The library ended the process that loaded it, or made it crash: that is its failure, and no wrong
// call of ours.
class Broken : public Error {
 public:
  using Error::Error;
};

// What there is to run: the types of which the library has functions, and the contract's tests.
struct Listed {
  std::vector<std::string> dtypes, tests;
};
// Throws Broken, and Error with the program's words where the library cannot be loaded or has no
// function.
// Throws Error, too, where a shape is none, or the library has no function for it.
Listed list(const Programs& programs, const std::string& op, const std::filesystem::path& library,
            const std::vector<std::string>& shapes);

struct How {
  std::string words;
  std::filesystem::path program, library, guard;
  std::vector<std::string> environment; // "NAME=value"
  bool huge = false;                    // the test RowsBeyond32Bits, in place of the contract
};
// With these shapes beside the contract's, without the tests of `without`. A run takes at most 10
// minutes.
ContractRun run_contract(const How& how, const std::string& op, const std::string& dtype,
                         const std::vector<std::string>& shapes,
                         const std::vector<std::string>& without,
                         const std::filesystem::path& folder);

nlohmann::json to_json(const ContractRun& run);

} // namespace kg::candidate
