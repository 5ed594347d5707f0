// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/console.h"

#include "tests/unit/perf/cli/world.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

namespace kg::cli::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(AsciiOnly, WritesNothingElse) {
  std::ostringstream stream;
  {
    const AsciiOnly ascii(stream);
    stream << "1 ms ±2 %, ✓ and é|" << std::flush;
  }
  EXPECT_EQ(stream.str(), "1 ms +-2 %, ? and ?|");
  stream << "±";
  EXPECT_EQ(stream.str(), "1 ms +-2 %, ? and ?|±") << "the stream is what it was";
}

TEST(CliConsole, AsciiTables) {
  Cli cli;
  const std::vector<std::string> run = {"run", "--op", "fill"};
  EXPECT_THAT(cli(run).out, HasSubstr("±99 % CI"));
  for (const std::vector<std::string>& call :
       {std::vector<std::string>{"run", "--op", "fill", "--ascii"},
        {"--ascii", "run", "--op", "fill"}}) {
    const std::string out = cli(call).out;
    EXPECT_THAT(out, HasSubstr("+-99 % CI"));
    EXPECT_TRUE(std::all_of(out.begin(), out.end(), [](char c) { return c > 0; })) << out;
  }
}

TEST(CliConsole, ProgressIsForTerminals) {
  Cli cli;
  const std::vector<std::string> run = {"run", "--op", "fill"};
  EXPECT_THAT(cli(run).err, IsEmpty());
  cli.terminal = true;
  EXPECT_EQ(cli(run).err, "\rprocess 1 of 1: 1 rows\r                      \r");
  EXPECT_THAT(cli({"run", "--op", "fill", "--quiet"}).err, IsEmpty());
  const std::string rows = cli({"run", "--in-process"}).err;
  EXPECT_THAT(rows, HasSubstr("\r[9/9] fill.f32.n64 plain real: 100"));
  EXPECT_EQ(rows.find('\n'), std::string::npos);
}

} // namespace
} // namespace kg::cli::test
