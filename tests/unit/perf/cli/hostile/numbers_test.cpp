// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Options whose figures stand for nothing: none may pass, crash or hang.
#include "tests/unit/perf/cli/hostile/output.h"
#include "tests/unit/perf/cli/world.h"

#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace kg::hostile {
namespace {

TEST(Numbers, OfOptions) {
  cli::test::Cli cli;
  const std::string file = (cli.folder.path() / "measured.json").string();
  ASSERT_EQ(cli({"run", "--in-process", "--json", file}).exit_code, 0);
  const std::vector<std::vector<std::string>> calls = {
      {"compare", file, file, "--tol"},
      {"gate", "--import", file, "--baseline", file, "--tol"},
      {"bless", "--in-process", "--op", "fill", "--tol-pct"},
      {"run", "--in-process", "--op", "fill", "--row-timeout"},
      {"run", "--op", "fill", "--processes"},
      {"run", "--op", "fill", "--library-rounds"},
      {"selftest", "--minutes"},
      {"report", file, "--keep"}};
  for (std::vector<std::string> call : calls)
    for (const char* figure : {"nan", "-nan", "inf", "-inf", "1e300", "-1e300", "1e999", "-1", "0",
                               "", " ", "0x", "1,5", "1 2", "99999999999999999999", "one"}) {
      SCOPED_TRACE(call.front() + " " + call.back() + " " + figure);
      std::vector<std::string> whole = call;
      whole.emplace_back(figure);
      const auto outcome = cli(whole);
      EXPECT_TRUE(outcome.exit_code == 1 || outcome.exit_code == 2) << outcome.exit_code;
      EXPECT_EQ(fault_of_console(outcome.err), "");
    }
  for (const char* shape : {"n-1", "n99999999999999999999", "n9223372036854775807",
                            "n18446744073709551615", "n4611686018427387904", "n1e9", "nnan"}) {
    SCOPED_TRACE(shape);
    const auto outcome = cli({"run", "--in-process", "--op", "fill", "--shape", shape});
    EXPECT_TRUE(outcome.exit_code == 1 || outcome.exit_code == 2) << outcome.exit_code;
  }
}

// A word that is no command is answered with what may have been meant.
TEST(Words, ThatAreNoCommands) {
  cli::test::Cli cli;
  for (const auto& [typed, meant] :
       std::vector<std::pair<const char*, const char*>>{{"rnu", "run"},
                                                        {"gaet", "gate"},
                                                        {"repotr", "report"},
                                                        {"comapre", "compare"},
                                                        {"lst", "list"},
                                                        {"blessed", "bless"}}) {
    const auto outcome = cli({typed});
    EXPECT_EQ(outcome.exit_code, 2) << typed;
    EXPECT_NE(outcome.err.find(std::string("unknown command '") + typed + "'; did you mean " +
                               meant + "? The commands are "),
              std::string::npos)
        << outcome.err;
  }
  const std::string long_word(100000, 'r');
  for (const char* typed : {"measure", "", "\x1b[31mrun", long_word.c_str()}) {
    const auto outcome = cli({typed, "--op", "fill"});
    EXPECT_EQ(outcome.exit_code, 2) << typed;
    EXPECT_NE(outcome.err.find("the commands are "), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find("did you mean"), std::string::npos) << outcome.err;
    EXPECT_EQ(fault_of_console(outcome.err), "");
  }
  EXPECT_EQ(cli({}).exit_code, 2);
  EXPECT_NE(cli({"--ascii"}).err.find("name a command; the commands are"), std::string::npos);
  EXPECT_NE(cli({"run", "--rnu"}).err.find("--rnu"), std::string::npos);
}

} // namespace
} // namespace kg::hostile
