// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Variables that say nothing that we know: a command must not go on as if they were not there.
#include "tests/unit/perf/cli/world.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::hostile {
namespace {

using testing::HasSubstr;

TEST(Environment, NonsenseIsRefusedWhoeverReadsIt) {
  cli::test::Cli cli;
  for (const char* const variable :
       {"KERNELGRADE_BRIEF", "KERNELGRADE_EMULATED", "KERNELGRADE_HUGE", "KERNELGRADE_INJECT",
        "KERNELGRADE_PTX_FUSE", "KERNELGRADE_REQUIRE_GPU", "KERNELGRADE_SANDBOX",
        "KERNELGRADE_SEED", "KERNELGRADE_STRICT", "KERNELGRADE_THREAD_ORDER", "KERNELGRADE_TURN",
        "KERNELGRADE_UNGUARDED"})
    for (const char* const value : {"maybe", "-", " 1", "1;"}) {
      SCOPED_TRACE(std::string(variable) + "=" + value);
      ASSERT_EQ(setenv(variable, value, 1), 0);
      const auto outcome = cli({"list"});
      unsetenv(variable);
      EXPECT_EQ(outcome.exit_code, 2) << outcome.out;
      EXPECT_THAT(outcome.err, HasSubstr(variable));
    }
  EXPECT_EQ(cli({"list"}).exit_code, 0);
}

TEST(Environment, AReasonThatNobodyCanReadIsRefused) {
  cli::test::Cli cli;
  for (const char* const why : {" ", "\xe2\x80\x8b", "\n", "a\nb", "\xff"}) {
    const auto outcome = cli({"bless", "--op", "fill", "--why", why});
    EXPECT_EQ(outcome.exit_code, 2) << outcome.out;
    EXPECT_THAT(outcome.err, HasSubstr("--why "));
  }
  EXPECT_FALSE(std::filesystem::exists(cli.baselines()));
}

} // namespace
} // namespace kg::hostile
