// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The main of a correctness test program.
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

// 1 if a test failed or none ran; 77 if all of them were skipped (1 if `strict`, as
// KERNELGRADE_STRICT=1 demands); else 0.
int exit_code(const TestCounts& counts, bool strict);

// Runs the program's tests. Prints the device line and the seed first, the reproduction command
// after each failed test, and last "N passed, N failed, N skipped". `--dtype X` selects the tests
// whose name contains "/X." (it excludes --gtest_filter); all of GoogleTest's own options work, and
// --help names this program's before them.
// A run of all tests, or of all of one dtype, that passes must have the ledger's evidence complete.
// Returns exit_code, or 2 for an unknown option, dtype, seed or value of KERNELGRADE_STRICT.
int run_tests(int argc, char** argv, const std::function<std::string()>& describe_device);

} // namespace kg::test
