// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/case.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/oracle/random.h"

namespace kg::test {
namespace {

TEST(Case, ids_have_letters_digits_underscore_and_dot) {
  EXPECT_EQ(CaseId("gemm.f32.m96_n128_k64_NN").text(), "gemm.f32.m96_n128_k64_NN");
  for (const char* bad : {"", "a b", "a/b", "a-b", "a,b", "\xC3\xA4", "a\n"})
    EXPECT_THROW(CaseId{bad}, Error) << bad;
}

TEST(Case, a_failure_can_be_run_again) {
  const std::string command = reproduction_command();
  const std::string seed_part = "KERNELGRADE_SEED=" + std::to_string(seed()) + " ";
  EXPECT_EQ(command.find(seed_part), 0u) << command;
  const std::string filter = " --gtest_filter=Case.a_failure_can_be_run_again";
  ASSERT_GT(command.size(), filter.size());
  EXPECT_EQ(command.substr(command.size() - filter.size()), filter);
}

// These variables change the executor's behaviour.
TEST(Case, the_command_sets_the_variables_that_were_set) {
  EXPECT_EQ(reproduction_command().find("_DEVICE="), std::string::npos);
  setenv("KERNELGRADE_THREAD_ORDER", "random:3", 1);
  setenv("KERNELGRADE_VIRTUAL_DEVICE", "small", 1);
  const std::string command = reproduction_command();
  unsetenv("KERNELGRADE_THREAD_ORDER");
  unsetenv("KERNELGRADE_VIRTUAL_DEVICE");
  EXPECT_NE(command.find(" KERNELGRADE_THREAD_ORDER=random:3 KERNELGRADE_VIRTUAL_DEVICE=small "),
            std::string::npos)
      << command;
}

TEST(Case, programs_are_named_from_the_project_root) {
  EXPECT_EQ(from_project_root("/home/me/kg/build/host/tests/gemm_test"),
            "./build/host/tests/gemm_test");
  EXPECT_EQ(from_project_root("/build/x/build/host/gemm_test"), "./build/host/gemm_test");
  EXPECT_EQ(from_project_root("/opt/gemm_test"), "/opt/gemm_test");
}

TEST(Case, failures_tell_everything_that_is_needed) {
  const std::vector<double> expected = {1, 2, 3, 4};
  const Comparison wrong =
      compare({Dtype::f32, {1, 2, 3, 5}, {}}, exactly(Dtype::f32, {2, 2}, expected));
  const CaseContext context{CaseId("sum.f32.rows_2"), "tree", "exact_R1", {2, 2}, {8, 1}};
  require_evidence({"sum", "f32", "tree"}, {Evidence::exact});
  const testing::AssertionResult result = verdict(wrong, context);
  ASSERT_FALSE(result);
  const std::string text = result.message();
  for (const std::string part :
       {"1 of 4 elements are wrong", "a single element, (1, 1)", "actual 5, expected 4",
        "case   sum.f32.rows_2, variant tree, fill exact_R1",
        "shape  [2, 2], strides [8, 1], seed ", "again  KERNELGRADE_SEED="})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  EXPECT_TRUE(
      verdict(compare({Dtype::f32, expected, {}}, exactly(Dtype::f32, {4}, expected)), context));
}

} // namespace
} // namespace kg::test
