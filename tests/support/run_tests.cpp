// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/run_tests.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runtime/dtype.h"
#include "runtime/environment.h"
#include "runtime/error.h"
#include "tests/oracle/random.h"
#include "tests/support/accuracy.h"
#include "tests/support/case.h"
#include "tests/support/ledger.h"
#include "tests/support/selected_tests.h"

namespace kg::test {

namespace {

// Prints for any failed test how to run it again, whatever its assertions print.
class ReproductionPrinter : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& info) override {
    if (info.result()->Failed()) fmt::print("reproduce: {}\n", reproduction_command());
  }
};

// GoogleTest's JSON lists the skipped tests, but before 1.13 not the reasons.
class SkipRecorder : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& info) override {
    const testing::TestResult& result = *info.result();
    for (int i = 0; i < result.total_part_count(); ++i)
      if (result.GetTestPartResult(i).skipped()) {
        std::string why = result.GetTestPartResult(i).message();
        while (why.ends_with('\n')) why.pop_back(); // added by newer versions
        testing::Test::RecordProperty("skipped_because", why);
      }
  }
};

bool is_dtype(std::string_view text) {
  constexpr std::array kAll = {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::f64,
                               Dtype::i32, Dtype::i8,  Dtype::u32,  Dtype::i64};
  for (const Dtype dtype : kAll)
    if (text == name(dtype)) return true;
  return false;
}

// The value of --dtype among the arguments left by GoogleTest; throws for any other argument.
std::optional<std::string> parse_dtype(int argc, char** argv) {
  std::optional<std::string> dtype;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    constexpr std::string_view kOption = "--dtype";
    if (argument == kOption && i + 1 < argc) {
      dtype = argv[++i];
    } else if (argument.starts_with("--dtype=")) {
      dtype = argument.substr(kOption.size() + 1);
    } else {
      throw Error(
          fmt::format("unknown or incomplete option '{}'; --help names the options", argument));
    }
    if (!is_dtype(*dtype))
      throw Error(
          fmt::format("--dtype '{}': give f32, f16, bf16, f64, i8, i32, i64 or u32", *dtype));
  }
  return dtype;
}

constexpr std::string_view kHelp =
    R"(Tests one operation, or a part of the suite. Options of this program:

  --dtype X  the tests of one type alone: f32, f16, bf16, f64, i8, i32, i64 or u32

Environment: KERNELGRADE_SEED (of random data), KERNELGRADE_STRICT=1 (fail where all is skipped),
KERNELGRADE_REQUIRE_GPU=1 (fail where there is no GPU).
Exit codes: 0 passed, 1 failed or nothing ran, 2 usage error, 77 all skipped.

GoogleTest's options:

)";

// Whether all tests run, so that missing evidence is missing from the program.
bool is_whole_run() {
  return GTEST_FLAG_GET(filter) == "*" && std::getenv("GTEST_TOTAL_SHARDS") == nullptr;
}

// Prints the missing entries; true if there are none.
bool evidence_complete(const testing::UnitTest& run) {
  const std::vector<std::string> missing = ledger_of(run).missing();
  for (const std::string& line : missing) fmt::print("missing coverage: {}\n", line);
  return missing.empty();
}

} // namespace

int exit_code(const TestCounts& counts, bool strict) {
  if (counts.failed > 0) return EXIT_FAILURE;
  if (counts.passed > 0) return EXIT_SUCCESS;
  if (counts.skipped > 0) return strict ? EXIT_FAILURE : kExitSkipped;
  return EXIT_FAILURE;
}

int run_tests(int argc, char** argv, const std::function<std::string()>& describe_device) {
  const bool help = asks_for_help(argc, argv);
  if (help) fmt::print("{}", kHelp);
  testing::InitGoogleTest(&argc, argv); // prints its own options
  if (help) return EXIT_SUCCESS;
  const bool whole = is_whole_run();
  bool strict = false;
  try {
    strict = is_set("KERNELGRADE_STRICT");
    if (const std::optional<std::string> dtype = parse_dtype(argc, argv)) {
      if (GTEST_FLAG_GET(filter) != "*")
        throw Error("--dtype excludes --gtest_filter: give one of them");
      GTEST_FLAG_SET(filter, fmt::format("*/{}.*", *dtype));
    }
    if (!GTEST_FLAG_GET(list_tests)) {
      fmt::print("{}\nseed {} (KERNELGRADE_SEED)\n", describe_device(), seed());
      testing::Test::RecordProperty("seed", std::to_string(seed()));
      testing::Test::RecordProperty("program", std::filesystem::path(argv[0]).filename().string());
    }
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return kExitUsage;
  }
  testing::UnitTest& unit_test = *testing::UnitTest::GetInstance();
  unit_test.listeners().Append(new ReproductionPrinter); // owned by GoogleTest from here on
  unit_test.listeners().Append(new SkipRecorder);

  const int gtest_code = RUN_ALL_TESTS();
  if (GTEST_FLAG_GET(list_tests)) return gtest_code;
  for (const std::string& line : largest_shares()) fmt::print("accuracy: {}\n", line);
  const TestCounts counts{unit_test.successful_test_count(), unit_test.failed_test_count(),
                          unit_test.skipped_test_count()};
  int code = exit_code(counts, strict);
  // Failures outside tests, in an environment or a suite's set-up, are not counted.
  if (code != EXIT_FAILURE && gtest_code != 0) code = EXIT_FAILURE;
  if (selects_nothing()) code = EXIT_FAILURE;
  if (whole && code == EXIT_SUCCESS && !evidence_complete(unit_test)) code = EXIT_FAILURE;
  fmt::print("{} passed, {} failed, {} skipped\n", counts.passed, counts.failed, counts.skipped);
  return code;
}

} // namespace kg::test
