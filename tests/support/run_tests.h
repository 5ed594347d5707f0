// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The main function of a correctness test program.
#pragma once

#include <functional>
#include <string>

namespace kg::test {

inline constexpr int kExitUsage = 2;
inline constexpr int kExitSkipped = 77;

struct TestCounts {
  int passed = 0;
  int failed = 0;
  int skipped = 0;
};

// 1 if a test failed or none ran; 77 if all tests were skipped (1 if `strict`, i.e.
// KERNELGRADE_STRICT=1); else 0.
int exit_code(const TestCounts& counts, bool strict);

// Runs the program's tests. Prints the device line and the seed first, the reproduction command
// after each failed test, and "N passed, N failed, N skipped" last. `--dtype X` selects tests whose
// name contains "/X." (excludes --gtest_filter). All GoogleTest options work; --help lists this
// program's first. A passing run of all tests, or all of one dtype, needs the ledger's complete
// evidence. Returns exit_code, or 2 for an unknown option, dtype, seed or KERNELGRADE_STRICT value.
int run_tests(int argc, char** argv, const std::function<std::string()>& describe_device);

} // namespace kg::test
