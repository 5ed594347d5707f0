// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Other tests run the disabled tests of this file in a separate process, to check how a program
// ends.
#include "tests/support/run_tests.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/ledger.h"

namespace kg::test {
namespace {

TEST(RunTestsCase, DISABLED_passes) {}
TEST(RunTestsCase, DISABLED_fails) { ADD_FAILURE() << "on purpose"; }
TEST(RunTestsCase, DISABLED_skips) { GTEST_SKIP() << "on purpose"; }

template <typename T>
class RunTestsTyped : public testing::Test {};
struct TypeName {
  template <typename T>
  static std::string GetName(int) {
    return std::is_same_v<T, float> ? "f32" : "bf16";
  }
};
using Types = testing::Types<float, int>;
TYPED_TEST_SUITE(RunTestsTyped, Types, TypeName);
TYPED_TEST(RunTestsTyped, DISABLED_passes) {}

// f64 has no oracle evidence.
template <typename T>
class RunTestsLedgered : public testing::Test {};
struct LedgeredName {
  template <typename T>
  static std::string GetName(int) {
    return std::is_same_v<T, float> ? "f64" : "i32";
  }
};
TYPED_TEST_SUITE(RunTestsLedgered, Types, LedgeredName);
TYPED_TEST(RunTestsLedgered, DISABLED_compares) {
  const VariantId id{"gemm", std::is_same_v<TypeParam, float> ? "f64" : "i32", "tiled"};
  require_evidence(id, {Evidence::exact, Evidence::oracle});
  record(id, Evidence::exact);
  if (id.dtype == "i32") record(id, Evidence::oracle);
}

struct Ended {
  int code;
  std::string output;
};

// Runs this program with these options; `environment` as for env(1).
Ended run(const std::string& options, const std::string& environment = "") {
  const std::string command =
      fmt::format("env -u GTEST_OUTPUT -u GTEST_FILTER -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX "
                  "-u KERNELGRADE_STRICT {} '{}' --gtest_also_run_disabled_tests {} 2>&1",
                  environment, std::filesystem::read_symlink("/proc/self/exe").string(), options);
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {-1, "popen failed"};
  std::string output;
  std::array<char, 4096> buffer;
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
    output.append(buffer.data(), count);
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
}

bool has(const Ended& ended, const std::string& text) {
  return ended.output.find(text) != std::string::npos;
}

std::string last_line(const std::string& output) {
  const std::size_t end = output.find_last_not_of('\n');
  const std::size_t start = output.rfind('\n', end);
  return output.substr(start + 1, end - start);
}

TEST(RunTests, exit_codes) {
  EXPECT_EQ(exit_code({1, 0, 0}, true), 0);
  EXPECT_EQ(exit_code({1, 0, 1}, false), 0);
  EXPECT_EQ(exit_code({1, 1, 1}, false), 1);
  EXPECT_EQ(exit_code({0, 0, 2}, false), 77);
  EXPECT_EQ(exit_code({0, 0, 2}, true), 1);
  EXPECT_EQ(exit_code({0, 0, 0}, false), 1);
}

TEST(RunTests, a_passing_program_prints_device_seed_and_counts) {
  const Ended ended = run("--gtest_filter=RunTestsCase.DISABLED_passes", "KERNELGRADE_SEED=4711");
  EXPECT_EQ(ended.code, 0) << ended.output;
  EXPECT_TRUE(has(ended, "no device: self-tests"));
  EXPECT_TRUE(has(ended, "seed 4711 (KERNELGRADE_SEED)"));
  EXPECT_EQ(last_line(ended.output), "1 passed, 0 failed, 0 skipped");
  EXPECT_FALSE(has(ended, "reproduce:"));
}

TEST(RunTests, a_failing_program_says_how_to_repeat_it) {
  const Ended ended = run("--gtest_filter=RunTestsCase.*", "KERNELGRADE_SEED=4711");
  EXPECT_EQ(ended.code, 1) << ended.output;
  EXPECT_EQ(last_line(ended.output), "1 passed, 1 failed, 1 skipped");
  EXPECT_TRUE(has(ended, "reproduce: KERNELGRADE_SEED=4711 "));
  EXPECT_TRUE(has(ended, "--gtest_filter=RunTestsCase.DISABLED_fails\n"));
}

TEST(RunTests, the_json_names_the_program_and_why_tests_were_skipped) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("kernelgrade-tests-{}.json", getpid());
  run("--gtest_filter=RunTestsCase.DISABLED_skips --gtest_output=json:" + file.string());
  std::ifstream stream(file);
  const std::string json(std::istreambuf_iterator<char>(stream), {});
  std::filesystem::remove(file);
  EXPECT_NE(json.find("\"program\": \"support_test\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"skipped_because\": \"on purpose\""), std::string::npos) << json;
}

TEST(RunTests, nothing_run_is_a_failure_and_all_skipped_is_77) {
  const Ended nothing = run("--gtest_filter=No.such_test");
  EXPECT_EQ(nothing.code, 1) << nothing.output;
  EXPECT_EQ(last_line(nothing.output), "0 passed, 0 failed, 0 skipped");
  EXPECT_TRUE(has(nothing, "FAILED: no test matches --gtest_filter=No.such_test; --gtest_list"));
  EXPECT_EQ(run("--gtest_filter=RunTestsCase.DISABLED_skips").code, 77);
  EXPECT_EQ(run("--gtest_filter=RunTestsCase.DISABLED_skips", "KERNELGRADE_STRICT=1").code, 1);
}

TEST(RunTests, help_names_this_programs_options_and_googletests) {
  for (const char* help : {"--help", "-h"}) {
    const Ended ended = run(help);
    EXPECT_EQ(ended.code, 0) << ended.output;
    EXPECT_TRUE(ended.output.starts_with("Tests one operation")) << ended.output;
    EXPECT_TRUE(has(ended, "  --dtype X  the tests of one type alone"));
    EXPECT_TRUE(has(ended, "--gtest_filter="));
    EXPECT_FALSE(has(ended, "unknown or incomplete option"));
  }
}

TEST(RunTests, dtype_selects_its_tests) {
  for (const char* option : {"--dtype f32", "--dtype=f32"}) {
    const Ended ended = run(option);
    EXPECT_EQ(ended.code, 0) << ended.output;
    EXPECT_TRUE(has(ended, "RunTestsTyped/f32.DISABLED_passes"));
    EXPECT_EQ(last_line(ended.output), "1 passed, 0 failed, 0 skipped");
  }
  EXPECT_EQ(run("--dtype f16").code, 1); // a known type without tests here
}

TEST(RunTests, a_whole_run_needs_all_its_evidence) {
  const Ended incomplete = run("--dtype f64");
  EXPECT_EQ(incomplete.code, 1) << incomplete.output;
  EXPECT_TRUE(has(incomplete, "missing coverage: gemm.f64, variant tiled: no comparison with the "
                              "oracle within bounds\n"));
  EXPECT_EQ(last_line(incomplete.output), "1 passed, 0 failed, 0 skipped");
  const Ended complete = run("--dtype i32");
  EXPECT_EQ(complete.code, 0) << complete.output;
  EXPECT_FALSE(has(complete, "missing evidence"));
}

TEST(RunTests, a_filtered_run_does_not) {
  const Ended filtered = run("--gtest_filter=RunTestsLedgered/f64.*");
  EXPECT_EQ(filtered.code, 0) << filtered.output;
  EXPECT_FALSE(has(filtered, "missing evidence"));
}

TEST(RunTests, wrong_usage_is_2) {
  EXPECT_EQ(run("--dtype f33").code, 2);
  EXPECT_EQ(run("--dtype").code, 2);
  EXPECT_EQ(run("--colour blue").code, 2);
  EXPECT_EQ(run("--dtype f32 --gtest_filter=RunTests.*").code, 2);
  const Ended seed = run("--gtest_filter=RunTestsCase.DISABLED_passes", "KERNELGRADE_SEED=soon");
  EXPECT_EQ(seed.code, 2);
  EXPECT_TRUE(has(seed, "KERNELGRADE_SEED is 'soon'"));
}

TEST(RunTests, a_switch_that_is_neither_on_nor_off_is_wrong_usage) {
  for (const char* value : {"x", "'yes please'", "2"}) {
    const Ended ended = run("--gtest_filter=RunTestsCase.DISABLED_skips",
                            fmt::format("KERNELGRADE_STRICT={}", value));
    EXPECT_EQ(ended.code, 2);
    EXPECT_TRUE(has(ended, "KERNELGRADE_STRICT is \"")) << ended.output;
  }
  EXPECT_EQ(run("--gtest_filter=RunTestsCase.DISABLED_skips", "KERNELGRADE_STRICT=0").code, 77);
}

TEST(RunTests, listing_tests_is_not_running_none) {
  const Ended ended = run("--gtest_list_tests --gtest_filter=RunTestsCase.*");
  EXPECT_EQ(ended.code, 0);
  EXPECT_FALSE(has(ended, "seed"));
  EXPECT_TRUE(has(ended, "DISABLED_skips"));
}

} // namespace
} // namespace kg::test
