// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// list --shares: how near to their minima the blessed costs are.
#include "perf/judge/exact_table.h"
#include "tests/unit/perf/cli/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::cli::test {
namespace {

using testing::HasSubstr;
using testing::Not;

judge::ExactRow cost(const char* id, const char* variant, const char* metric, double value,
                     double minimum) {
  return {{id, variant, metric}, {value, minimum}, "", "why", 0};
}

// Of n64 the variant with the lower bound of the time counts, though it reads more; what has no
// minimum has no share.
TEST(CliShares, AreThoseOfTheFastestVariantOfEachCase) {
  Cli cli;
  judge::save_exact(judge::cost_table(), cli.baselines() / "simt" / "copy.csv",
                    {cost("copy.f16.n128", "plain", "bound_ns.h200", 1000, 900),
                     cost("copy.f16.n128", "plain", "unique_sectors", 10, 10),
                     cost("copy.f32.n64", "plain", "bound_ns.h200", 1500, 600),
                     cost("copy.f32.n64", "plain", "unique_sectors", 20, 20),
                     cost("copy.f32.n64", "wide", "barriers", 3, 0),
                     cost("copy.f32.n64", "wide", "bound_ns.h200", 1000, 600),
                     cost("copy.f32.n64", "wide", "unique_sectors", 25, 20)});
  judge::save_exact(judge::cost_table(), cli.baselines() / "simt" / "fill.csv",
                    {cost("fill.f32.n64", "plain", "bound_ns.h200", 1000, 1000),
                     cost("fill.f32.n64", "plain", "matrix_instructions", 8, 4)});
  const Outcome outcome = cli({"list", "--shares"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("| copy | 2 | 0.80 to 1.00 | - | 0.60 to 0.90 |\n"));
  EXPECT_THAT(outcome.out, HasSubstr("| fill | 1 | - | 0.50 | 1.00 |\n"));
  EXPECT_THAT(cli({"list", "--shares", "--op", "fill"}).out, Not(HasSubstr("copy")));
}

TEST(CliShares, NeedCostsThatCanBeRead) {
  Cli cli;
  EXPECT_THAT(cli({"list", "--shares"}).out, Not(HasSubstr("copy")));
  write_file(cli.baselines() / "simt" / "copy.csv", "schema\n");
  const Outcome outcome = cli({"list", "--shares"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("copy.csv:1"));
  EXPECT_EQ(cli({"list", "--shares", "--models"}).exit_code, 2);
}

} // namespace
} // namespace kg::cli::test
