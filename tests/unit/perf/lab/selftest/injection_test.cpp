// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/injection.h"

#include "runtime/error.h"

#include <cstddef>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

namespace kg::perf {
namespace {

using testing::HasSubstr;

// The injection of `text` where the random numbers are these, in turn.
std::optional<Injection> parsed(const std::string& text, std::vector<double> draws = {}) {
  std::size_t next = 0;
  std::optional<Injection> injection = parse_injection(text, [&] { return draws.at(next++); });
  EXPECT_EQ(next, draws.size()) << text;
  return injection;
}

TEST(Injection, NothingIsNothing) { EXPECT_FALSE(parsed("").has_value()); }

TEST(Injection, APercentageIsThere) {
  EXPECT_NEAR(parsed("5")->share, 0.05, 1e-12);
  EXPECT_EQ(parsed("5")->text, "5 %");
  EXPECT_EQ(parsed("0")->share, 0); // still an injection: its rows are tagged
}

TEST(Injection, WildProcessesAreThatShare) {
  EXPECT_NEAR(parsed("wild:0.03", {0.02, 0.5})->share, 0.25, 1e-12);
  EXPECT_EQ(parsed("wild:0.03", {0.03, 0.5})->share, 0);
  EXPECT_EQ(parsed("wild:0.03", {0.02, 0.5})->text, "25 % (wild:0.03)");
}

TEST(Injection, OneProcessOfFiveIsInTheSlowerMode) {
  EXPECT_NEAR(parsed("bimodal:6", {0.19, 0})->share, 0.06, 1e-12);
  EXPECT_EQ(parsed("bimodal:6", {0.2, 0})->share, 0);
}

TEST(Injection, TermsMultiply) {
  EXPECT_NEAR(parsed("5,wild:1", {0, 0.2})->share, 1.05 * 1.1 - 1, 1e-12);
}

TEST(Injection, MalformedTextsAreRefused) {
  for (const char* text : {"-1", "1001", "five", "5,", ",5", "5 %", "wild", "wild:1.1",
                           "wild:", ":5", "calm:3", "bimodal:x", "nan"})
    try {
      parse_injection(text, [] { return 0.0; });
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("KERNELGRADE_INJECT is \"" + std::string(text) + "\""));
    }
}

} // namespace
} // namespace kg::perf
