// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Ends a mutant's test program at the first failed assertion: the mutant is found, and further
// failures do not matter. GoogleTest's own fail-fast waits for the test to end.
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runtime/ptx/library.h"
#include "tests/mutation/mutants/protocol.h"

namespace {

class FirstFailure : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& test) override {
    fmt::print("{}{}.{}\n", kg::mutants::kStarted, test.test_suite_name(), test.name());
    std::fflush(stdout); // must survive a crash
  }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    fmt::print("{}{}:{}\n{}\n", kg::mutants::kFailed,
               result.file_name() != nullptr ? result.file_name() : "", result.line_number(),
               result.message());
    std::fflush(stdout);
    std::_Exit(EXIT_FAILURE);
  }
};

const bool registered = [] {
  // The end would cut off what the compiler does ahead, and most mutants end after a few kernels.
  kg::ptx_run::compile_only_launched();
  testing::UnitTest::GetInstance()->listeners().Append(new FirstFailure); // GoogleTest owns it
  return true;
}();

} // namespace
