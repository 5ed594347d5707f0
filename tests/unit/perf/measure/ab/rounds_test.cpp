// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rounds of fresh processes: their order, what they are asked, and what becomes of rows that fail.
#include "perf/measure/ab/rounds.h"
#include "perf/measure/child_process.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "tests/unit/perf/judge/folder.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

namespace kg::ab {
namespace {

using judge::Measured;
using judge::RowKey;
using testing::ElementsAre;
using testing::HasSubstr;

RowKey row(const std::string& case_id) { return {case_id, "plain", judge::Mode::real}; }

const RowKey kRow = row("copy.f32.n64");
const std::vector<RowKey> kFive = {row("copy.f32.n1"), row("copy.f32.n2"), row("copy.f32.n3"),
                                   row("copy.f32.n4"), row("copy.f32.n5")};

Arm arm(const std::string& name, std::map<std::string, std::string> environment = {}) {
  return {name, perf::this_executable(), std::move(environment)};
}

TEST(RoundOrder, EachRoundIsMirroredByTheNext) {
  for (std::size_t round = 0; round < 40; round += 2) {
    std::vector<std::size_t> mirrored = round_order(3, 7, round + 1);
    std::reverse(mirrored.begin(), mirrored.end());
    EXPECT_EQ(round_order(3, 7, round), mirrored) << "round " << round;
  }
}

TEST(RoundOrder, EveryOrderIsAsLikelyAsAnyOther) {
  constexpr std::size_t kRounds = 6000;
  std::map<std::vector<std::size_t>, std::size_t> seen;
  for (std::size_t round = 0; round < kRounds; ++round) ++seen[round_order(3, 1, round)];
  ASSERT_EQ(seen.size(), 6u);
  // 3000 independent draws, each of which counts for an order and its mirror image: 1000 +- 26.
  for (const auto& [order, times] : seen) EXPECT_NEAR(static_cast<double>(times), 1000, 5 * 26);
}

TEST(RoundOrder, DependsOnTheSeedAlone) {
  EXPECT_EQ(round_order(3, 5, 8), round_order(3, 5, 8));
  bool differs = false;
  for (std::size_t round = 0; round < 20; ++round)
    differs = differs || round_order(3, 5, round) != round_order(3, 6, round);
  EXPECT_TRUE(differs);
}

TEST(Rounds, GiveEachArmItsTimes) {
  RoundOptions options;
  options.rows = {kRow};
  const auto rounds = run_rounds({arm("a", {{"FAKE_NS", "100"}}), arm("b", {{"FAKE_NS", "110"}}),
                                  arm("control", {{"FAKE_NS", "101"}})},
                                 0, 2, options);
  ASSERT_EQ(rounds.size(), 2u);
  EXPECT_EQ(rounds[0][1].environment.at("brief"), "1");
  const judge::PairedTimes times = paired_times(rounds, kRow);
  EXPECT_THAT(times.a_ns, ElementsAre(100, 100));
  EXPECT_THAT(times.b_ns, ElementsAre(110, 110));
  EXPECT_THAT(times.control_ns, ElementsAre(101, 101));
}

Measured interleaved(std::vector<double> turns_ns) {
  Measured result;
  result.key = kRow;
  judge::take_samples(result, std::vector<double>(10, judge::median(turns_ns)));
  result.turn_medians_ns = std::move(turns_ns);
  return result;
}

// The machine takes twice as long from the third turn on. Of five, most turns of one process and
// two of another would be slow ones.
TEST(Rounds, TurnsAreComparedOneByOne) {
  std::vector<judge::Results> round(3);
  round[0].rows = {interleaved({100, 100, 200, 200, 200})};
  round[1].rows = {interleaved({110, 110, 110, 220, 220})}; // it had its turn just before
  round[2].rows = {interleaved({100, 100, 200, 200, 200, 200})};
  const judge::PairedTimes times = paired_times({round}, kRow);
  EXPECT_THAT(times.a_ns, ElementsAre(200));
  EXPECT_NEAR(times.b_ns.at(0), 220, 1e-9);
  EXPECT_THAT(times.control_ns, ElementsAre(200));
  round[1].rows[0].turn_medians_ns.clear(); // of a build that knows of no turns
  EXPECT_THAT(paired_times({round}, kRow).b_ns, ElementsAre(110));
}

TEST(Rounds, TheArmsOfARoundTakeTurnsWhereTheyAreToldTo) {
  const judge::test::Folder folder;
  const std::string log = folder.path() / "log";
  RoundOptions options;
  options.rows = {kRow};
  options.exclusive = [] { return nullptr; };
  run_rounds({arm("a", {{"FAKE_TURN_LOG", log}}), arm("b", {{"FAKE_TURN_LOG", log}})}, 0, 1,
             options);
  const std::vector<std::size_t> order = round_order(2, options.seed, 0);
  const std::string first = order[0] == 0 ? "a" : "b", second = order[0] == 0 ? "b" : "a";
  EXPECT_EQ(read_file(log).value(), first + second + second + first);
}

TEST(Rounds, RunInTheOrderDrawnWithTheRowsOfARoundInOneOrder) {
  const judge::test::Folder folder;
  const std::string log = folder.path() / "log";
  const std::map<std::string, std::string> logging = {{"FAKE_LOG", log}};
  RoundOptions options;
  options.rows = {kRow};
  options.seed = 3;
  run_rounds({arm("0", logging), arm("1", logging), arm("2", logging)}, 4, 2, options);
  std::string expected;
  for (const std::size_t round : {4u, 5u})
    for (const std::size_t number : round_order(3, 3, round))
      expected += fmt::format("{} {} 1\n", number, 3 + round + 1);
  EXPECT_EQ(read_file(log).value(), expected);
}

struct Failure {
  const char* setting;
  const char* problem;
};
class FailingRow : public testing::TestWithParam<Failure> {};

TEST_P(FailingRow, LeavesTheOthersTheirTimesAndIsNotTriedAgain) {
  const judge::test::Folder folder;
  const std::string log = folder.path() / "log";
  RoundOptions options;
  options.rows = kFive;
  const auto rounds = run_rounds(
      {arm("a", {{GetParam().setting, "copy.f32.n4"}, {"FAKE_LOG", log}})}, 0, 2, options);
  for (const auto& round : rounds) {
    ASSERT_EQ(round[0].rows.size(), 5u);
    for (std::size_t i = 0; i < 5; ++i) {
      const Measured& found = round[0].rows[i];
      EXPECT_EQ(found.key, kFive[i]);
      if (i == 3)
        EXPECT_THAT(found.verified + found.skipped, HasSubstr(GetParam().problem));
      else
        EXPECT_EQ(found.verified + found.skipped, "") << judge::text(found.key);
    }
  }
  // All five, two and three of them, one and two of the three, either of the two; then the rest.
  EXPECT_THAT(read_file(log).value(),
              HasSubstr("a 2 5\na 2 2\na 2 3\na 2 1\na 2 2\na 2 1\na 2 1\na 3 4\n"));
}

INSTANTIATE_TEST_SUITE_P(Rounds, FailingRow,
                         testing::Values(Failure{"FAKE_CRASH", "exit code 137"},
                                         Failure{"FAKE_UNKNOWN", "knows no such row"}),
                         [](const auto& about) { return std::string(about.param.setting); });

// Its only row hangs, so that no process has to be quick for the test to pass.
TEST(Rounds, AProcessThatDoesNotEndIsEnded) {
  RoundOptions options;
  options.rows = {kRow};
  options.time_limit_s = 1;
  const auto rounds = run_rounds({arm("a", {{"FAKE_HANG", kRow.case_id}})}, 0, 2, options);
  for (const auto& round : rounds)
    EXPECT_THAT(round[0].rows.at(0).verified, HasSubstr("longer than 1 s"));
}

TEST(Rounds, ARowWithoutAResultIsThereWithItsProblem) {
  RoundOptions options;
  options.rows = kFive;
  const judge::test::Folder folder;
  const std::string log = folder.path() / "log";
  const auto rounds = run_rounds(
      {arm("a",
           {{"FAKE_WRONG", "copy.f32.n1"}, {"FAKE_MISSING", "copy.f32.n2"}, {"FAKE_LOG", log}})},
      0, 2, options);
  EXPECT_EQ(rounds[0][0].rows[0].verified, "element 5 is 1, not 2");
  EXPECT_THAT(rounds[0][0].rows[1].skipped, HasSubstr("no such row"));
  EXPECT_EQ(rounds[0][0].rows[2].median_ns, 1000);
  EXPECT_EQ(rounds[1][0].rows[0].verified, "element 5 is 1, not 2");
  EXPECT_EQ(read_file(log).value(), "a 2 5\na 3 4\n") << "what is wrong is not tried again";
}

TEST(Rounds, AnArmThatCannotBeStartedIsAnError) {
  RoundOptions options;
  options.rows = {kRow};
  EXPECT_THROW(run_rounds({{"a", "/no/such/kernelgrade", {}}}, 0, 1, options), Error);
  const judge::test::Folder folder; // found, but no program
  EXPECT_THROW(run_rounds({{"a", folder.path(), {}}}, 0, 1, options), Error);
  const std::filesystem::path script = folder.path() / "script";
  write_file(script, "#!/no/such/interpreter\n");
  EXPECT_THROW(run_rounds({{"a", script, {}}}, 0, 1, options), Error);
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  EXPECT_THROW(run_rounds({{"a", script, {}}}, 0, 1, options), Error);
}

TEST(PairedTimes, LeaveOutRoundsInWhichAnArmHasNoTime) {
  const auto run = [](double ns, const std::string& problem = "") {
    Measured found;
    found.key = kRow;
    found.verified = problem;
    found.median_ns = ns;
    return judge::Results{{}, {found}};
  };
  const judge::PairedTimes times = paired_times({{run(1), run(2), run(3)},
                                                 {run(4), run(5, "wrong"), run(6)},
                                                 {run(7), run(8), judge::Results{}},
                                                 {run(9), run(10), run(11)}},
                                                kRow);
  EXPECT_THAT(times.a_ns, ElementsAre(1, 9));
  EXPECT_THAT(times.b_ns, ElementsAre(2, 10));
  EXPECT_THAT(times.control_ns, ElementsAre(3, 11));
  EXPECT_THROW(paired_times({{run(1), run(2)}}, kRow), Error);
}

} // namespace
} // namespace kg::ab
