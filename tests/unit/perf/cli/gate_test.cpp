// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measuring, blessing and gating end to end: what is written, what is said, and the exit codes.
#include "tests/unit/perf/cli/world.h"

#include "perf/judge/device_file.h"
#include "perf/judge/result.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kg::cli::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Sets an environment variable for a scope.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Setting() { unsetenv(name_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
};

class CliGate : public testing::Test {
 protected:
  void bless() {
    const Outcome outcome = cli({"bless"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  }
  Cli cli;
};

TEST_F(CliGate, AnInjectionSlowsOurRowsAndSaysSo) {
  const std::string json = cli.folder.path() / "run.json";
  const Setting injection("KERNELGRADE_INJECT", "20");
  const Outcome outcome = cli({"run", "--op", "copy", "--dtype", "f32", "--shape", "n64", "--json",
                               json, "--source-id", "abc", "--quiet", "--in-process"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("KERNELGRADE_INJECT: injecting 20 %"));
  const judge::Results run = judge::load_results(json);
  ASSERT_EQ(run.rows.size(), 2u);
  EXPECT_NEAR(run.rows[0].median_ns, 1.2e5, 1e-3);
  EXPECT_EQ(run.rows[0].tags.at("injected"), "20 %");
  EXPECT_EQ(run.rows[1].kind, judge::Kind::vendor);
  EXPECT_EQ(run.rows[1].median_ns, 1e5);
  EXPECT_FALSE(run.rows[1].tags.contains("injected"));
}

TEST_F(CliGate, SaysThatItsErrorRatesAreNotKnown) {
  EXPECT_THAT(cli({"gate", "--op", "fill"}).out, Not(HasSubstr("calibration.csv")));
  bless();
  EXPECT_THAT(cli({"gate", "--op", "fill"}).out,
              HasSubstr("calibration.csv does not exist: how often this gate errs here"));
}

TEST_F(CliGate, InjectedTimesAreNotBlessed) {
  const Setting injection("KERNELGRADE_INJECT", "20");
  const Outcome outcome = cli({"bless", "--op", "fill", "--processes", "1"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("it was slowed down on purpose (20 %)"));
  EXPECT_FALSE(std::filesystem::exists(cli.csv("fill")));
}

TEST_F(CliGate, RunShowsTimesAndWritesThem) {
  const std::string json = cli.folder.path() / "run.json";
  const Outcome outcome = cli({"run", "--op", "copy", "--dtype", "f32", "--shape", "n64", "--json",
                               json, "--source-id", "abc"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("copy.f32.n64"), HasSubstr("100 us")));
  const judge::Results run = judge::load_results(json);
  EXPECT_EQ(run.environment.at("source"), "abc");
  EXPECT_TRUE(run.environment.contains("date_utc"));
  ASSERT_EQ(run.rows.size(), 2u);
  const judge::Measured& row = run.rows.front();
  EXPECT_EQ(row.median_ns, 1e5);
  EXPECT_EQ(row.bytes, 8 * 64);
  EXPECT_EQ(row.canary.value().kind, judge::CanaryKind::memory);
  EXPECT_EQ(row.canary->median_ns, 1e6);
  EXPECT_EQ(row.tags.at("ran"), "plain");
  EXPECT_EQ(row.tags.at("automatic"), "plain");
  EXPECT_FALSE(run.rows.back().tags.contains("automatic")) << "a library has no such choice";
  EXPECT_EQ(row.identity, "");
  EXPECT_EQ(run.rows[1].kind, judge::Kind::vendor);
  EXPECT_EQ(run.rows[1].identity, "lib 1.2");
}

TEST_F(CliGate, AWrongResultFailsAndIsNotCalledATime) {
  cli.behaviour.wrong = true;
  const std::string json = cli.folder.path() / "run.json";
  const Outcome run = cli({"run", "--op", "fill", "--json", json});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.out, AllOf(HasSubstr("INVALID"), Not(HasSubstr(" us"))));
  EXPECT_THAT(run.err, AllOf(HasSubstr("element 5 is 1, not 2"),
                             HasSubstr("again: kernelgrade run --op fill --dtype f32")));
  EXPECT_TRUE(judge::load_results(json).rows.at(0).samples_ns.empty());
  const Outcome gate = cli({"gate", "--op", "fill"});
  EXPECT_EQ(gate.exit_code, 1);
  EXPECT_THAT(gate.out, HasSubstr("invalid"));
}

TEST_F(CliGate, PassesWhatWasBlessed) {
  bless();
  const Outcome outcome = cli({"gate"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("1.000"), HasSubstr("excellent"),
                                 HasSubstr("5 pass; 4 informational")));
}

TEST_F(CliGate, BlessWritesRowsAndDevice) {
  bless();
  EXPECT_THAT(read_file(cli.csv("copy")).value(),
              AllOf(HasSubstr("copy.f32.n64,plain,real,100000"), HasSubstr("memory:1e+06"),
                    HasSubstr(",lib,real,")));
  const auto device = judge::load_device(cli.baselines() / "host" / "device.json");
  EXPECT_EQ(device.value().fingerprint.at("device"), "host");
  EXPECT_EQ(device->canaries_ns.at("memory"), 1e6);
  EXPECT_EQ(device->canaries_ns.at("compute"), 1e6);
}

TEST_F(CliGate, AFewRowsDoNotChangeTheCanariesOfAllOthers) {
  bless();
  const auto canary = [this] {
    return judge::load_device(cli.baselines() / "host" / "device.json")
        .value()
        .canaries_ns.at("memory");
  };
  cli.behaviour.canary_ns = 1.2e6;
  EXPECT_EQ(cli({"bless", "--op", "copy", "--shape", "n64", "--variant", "plain", "--why", "later"})
                .exit_code,
            0);
  EXPECT_THAT(read_file(cli.csv("copy")).value(), HasSubstr("memory:1.2e+06"));
  EXPECT_EQ(canary(), 1e6);
  EXPECT_EQ(cli({"bless", "--op", "copy", "--why", "all"}).exit_code, 0);
  EXPECT_EQ(canary(), 1.2e6);
}

TEST_F(CliGate, AChangeNeedsAReasonToBeBlessed) {
  bless();
  // Of the row's median and both ends of its interval.
  cli.edit("fill", "real,100000,100000,100000,", "real,40000,40000,40000,");
  const Outcome refused = cli({"bless", "--op", "fill"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.out, HasSubstr("say --why"));
  EXPECT_EQ(cli({"gate", "--op", "fill"}).exit_code, 1);
  EXPECT_EQ(cli({"bless", "--op", "fill", "--why", "f64 sums"}).exit_code, 0);
  EXPECT_EQ(cli({"gate", "--op", "fill"}).exit_code, 0);
  EXPECT_THAT(read_file(cli.csv("fill")).value(), HasSubstr("f64 sums"));
}

TEST_F(CliGate, FailsARegressionAndSaysHowToSeeItAgain) {
  bless();
  cli.behaviour.copy_ns = 3e5;
  const Outcome outcome = cli({"gate", "--op", "fill"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("regressed"), HasSubstr("0.333"), HasSubstr("poor"),
                                 HasSubstr("again: kernelgrade gate --op fill --dtype f32")));
}

TEST_F(CliGate, ASlowerMachineIsNoRegression) {
  bless();
  cli.behaviour.copy_ns = 1.8e5;
  cli.behaviour.canary_ns = 1.8e6;
  EXPECT_EQ(cli({"gate"}).exit_code, 0);
}

TEST_F(CliGate, WithoutBaselinesItSkipsUnlessStrict) {
  const Outcome outcome = cli({"gate", "--op", "fill"});
  EXPECT_EQ(outcome.exit_code, 77);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("n/a"), HasSubstr("no baseline"),
                                 HasSubstr("kernelgrade bless --op fill")));
  EXPECT_EQ(cli({"gate", "--op", "fill", "--strict"}).exit_code, 1);
  const Setting strict("KERNELGRADE_STRICT", "1");
  EXPECT_EQ(cli({"gate", "--op", "fill"}).exit_code, 1);
}

TEST_F(CliGate, ASettingThatIsNeitherOnNorOffIsAMistake) {
  for (const char* name : {"KERNELGRADE_STRICT", "KERNELGRADE_REQUIRE_GPU", "KERNELGRADE_BRIEF"})
    for (const char* value : {"x", "yes please", "true", "2", " 1", "-"}) {
      const Setting set(name, value);
      const Outcome outcome = cli({"gate"});
      EXPECT_EQ(outcome.exit_code, 2) << name << value;
      EXPECT_THAT(outcome.err, HasSubstr(std::string(name) + " is \"" + value + "\"; set it to 1"));
    }
  const Setting confirm("KERNELGRADE_CONFIRM", "perhaps");
  EXPECT_EQ(cli({"gate"}).exit_code, 2);
  EXPECT_EQ(cli.made(), std::vector<std::string>());
}

TEST_F(CliGate, ASeedThatIsNoneIsAMistakeAndNoWrongResult) {
  for (const char* value : {"abc", "-1", "1.5", "0x10", "18446744073709551616", " 1"}) {
    const Setting seed("KERNELGRADE_SEED", value);
    for (const char* command : {"run", "gate", "bless", "list"}) {
      const Outcome outcome = cli({command});
      EXPECT_EQ(outcome.exit_code, 2) << command << value;
      EXPECT_EQ(outcome.out, "");
      EXPECT_THAT(outcome.err, HasSubstr(std::string("KERNELGRADE_SEED is '") + value + "'"));
    }
  }
  for (const char* value : {"", "7", "random"}) {
    const Setting seed("KERNELGRADE_SEED", value);
    EXPECT_EQ(cli({"list"}).exit_code, 0) << value;
  }
}

TEST_F(CliGate, WithoutADeviceItSkipsUnlessOneWasPromised) {
  cli.no_device = "no NVIDIA driver";
  for (const char* command : {"run", "gate", "bless", "doctor"}) {
    const Outcome outcome = cli({command});
    EXPECT_EQ(outcome.exit_code, 77) << command;
    EXPECT_THAT(outcome.out + outcome.err, HasSubstr("no NVIDIA driver")) << command;
    const Setting promised("KERNELGRADE_REQUIRE_GPU", "1");
    EXPECT_EQ(cli({command}).exit_code, 1) << command;
  }
  EXPECT_EQ(cli.made(), std::vector<std::string>());
}

TEST_F(CliGate, AMissingRowFails) {
  bless();
  const std::string contents = read_file(cli.csv("copy")).value();
  const std::size_t begin = contents.find("1,copy.f16.n128,plain");
  const std::size_t end = contents.find('\n', begin) + 1;
  cli.edit("copy", contents.substr(begin, end - begin), "");
  const Outcome outcome = cli({"gate", "--op", "copy"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("copy.f16.n128 plain real: unblessed"),
                                 HasSubstr("has no such row")));
}

TEST_F(CliGate, AnOrphanRowFailsAWholeRunAndNotAPartialOne) {
  bless();
  cli.edit("fill", "fill.f32.n64", "fill.f32.n65");
  EXPECT_THAT(cli({"gate", "--op", "fill"}).out, HasSubstr("orphan"));
  cli.edit("fill", "fill.f32.n65", "fill.f32.n64");
  cli.edit("copy", "copy.f32.n64,plain", "copy.f32.n64,plane");
  const Outcome partial = cli({"gate", "--op", "copy", "--variant", "lib"});
  EXPECT_EQ(partial.exit_code, 77) << "a library's rows alone judge nothing: " << partial.out;
  EXPECT_THAT(partial.out, Not(HasSubstr("orphan")));
  EXPECT_THAT(cli({"gate", "--op", "copy", "--dtype", "f16"}).out, HasSubstr("orphan"));
  EXPECT_EQ(cli({"bless", "--op", "copy", "--remove-orphans"}).exit_code, 0);
  EXPECT_EQ(cli({"gate", "--op", "copy"}).exit_code, 0);
}

struct Damage {
  const char* name;
  const char* piece;
  const char* replacement;
  const char* message;
};
class CliDamage : public CliGate, public testing::WithParamInterface<Damage> {};

TEST_P(CliDamage, FailsWithFileAndLineAndMeasuresNothing) {
  bless();
  cli.edit("fill", GetParam().piece, GetParam().replacement);
  cli.made();
  const Outcome outcome = cli({"gate", "--op", "fill"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("fill.csv:"), HasSubstr(GetParam().message)));
  EXPECT_EQ(cli.made(), std::vector<std::string>());
}

INSTANTIATE_TEST_SUITE_P(
    Csv, CliDamage,
    testing::Values(Damage{"UnknownColumn", "median_ns", "mean_ns", "unknown column 'mean_ns'"},
                    Damage{"Nan", "real,100000", "real,nan", "'nan' is not a positive number"},
                    Damage{"Zero", "real,100000", "real,0", "'0' is not a positive number"},
                    Damage{"MissingField", "real,100000,", "real,", "fields under"},
                    Damage{"UnknownMode", "real,100000", "reel,100000", "reel"},
                    Damage{"OtherSchema", "\n1,fill", "\n9,fill", "schema version '9'"}),
    [](const auto& about) { return std::string(about.param.name); });

TEST_F(CliGate, FreshProcessesGiveOneMedianEach) {
  const std::string json = cli.folder.path() / "run.json";
  const Outcome outcome = cli({"run", "--processes", "3", "--json", json, "--source-id", "abc"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(cli.made().size(), 27u);
  const judge::Results run = judge::load_results(json);
  ASSERT_EQ(run.rows.size(), 9u);
  EXPECT_EQ(run.rows.front().process_medians_ns, std::vector<double>(3, 1e5));
  EXPECT_EQ(run.environment.at("source"), "abc");
}

TEST_F(CliGate, MergeAndReportTakeStoredRuns) {
  bless();
  const std::string a = cli.folder.path() / "a.json", b = cli.folder.path() / "b.json";
  const std::string both = cli.folder.path() / "both.json", out = cli.folder.path() / "report";
  ASSERT_EQ(cli({"gate", "--op", "copy", "--json", a}).exit_code, 0);
  ASSERT_EQ(cli({"gate", "--op", "fill", "--json", b}).exit_code, 0);
  ASSERT_EQ(cli({"merge", a, b, "--json", both}).exit_code, 0);
  EXPECT_EQ(judge::load_results(both).rows.size(), 9u);
  const Outcome whole = cli({"report", both, "--out", out});
  EXPECT_EQ(whole.exit_code, 0) << whole.out << whole.err;
  EXPECT_THAT(whole.out, AllOf(HasSubstr("5 unchanged; 4 of libraries are informational"),
                               HasSubstr("report.html")));
  const auto json = nlohmann::json::parse(read_file(out + "/report.json").value());
  EXPECT_EQ(json["rows"].size(), 9u);
  EXPECT_EQ(json["verdicts"]["pass"], 5);
  EXPECT_EQ(json["exit_code"], 0);
  EXPECT_EQ(judge::load_results(out + "/samples.json").rows.size(), 9u);
  EXPECT_THAT(read_file(out + "/report.md").value(), HasSubstr("copy.f32.n64"));
}

TEST_F(CliGate, MergedRunsMayDifferInTheirDateOnly) {
  const std::string a = cli.folder.path() / "a.json", b = cli.folder.path() / "b.json";
  const std::string both = cli.folder.path() / "both.json";
  ASSERT_EQ(cli({"run", "--op", "fill", "--json", a, "--source-id", "1"}).exit_code, 0);
  judge::Results other = judge::load_results(a);
  other.environment["date_utc"] = "2999-01-01T00:00:00Z";
  judge::save_results(b, other);
  ASSERT_EQ(cli({"merge", b, a, "--json", both}).exit_code, 0);
  const judge::Results merged = judge::load_results(both);
  EXPECT_EQ(merged.environment.at("date_utc"), "2999-01-01T00:00:00Z");
  EXPECT_EQ(merged.rows.at(0).process_medians_ns.size(), 2u);
  other.environment["source"] = "2";
  judge::save_results(b, other);
  EXPECT_EQ(cli({"merge", a, b, "--json", both}).exit_code, 1);
}

TEST_F(CliGate, ARowThatFailedInOneProcessHasFailed) {
  const std::string a = cli.folder.path() / "a.json", b = cli.folder.path() / "b.json";
  const std::string both = cli.folder.path() / "both.json";
  ASSERT_EQ(cli({"run", "--op", "fill", "--json", a, "--source-id", "1"}).exit_code, 0);
  cli.behaviour.wrong = true;
  ASSERT_EQ(cli({"run", "--op", "fill", "--json", b, "--source-id", "1"}).exit_code, 1);
  ASSERT_EQ(cli({"merge", a, b, "--json", both}).exit_code, 0);
  const judge::Measured row = judge::load_results(both).rows.at(0);
  EXPECT_EQ(row.verified, "before timing: element 5 is 1, not 2");
  EXPECT_TRUE(row.samples_ns.empty());
}

TEST_F(CliGate, ReportMissesWhatATestDidNotDeliver) {
  bless();
  const std::string json = cli.folder.path() / "a.json", out = cli.folder.path() / "report";
  ASSERT_EQ(cli({"gate", "--op", "copy", "--json", json}).exit_code, 0);
  const Outcome outcome = cli({"report", json, "--out", out});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("fill.f32.n64 plain real: invalid: it was selected but not"));
  EXPECT_EQ(cli({"report", json, "--op", "copy", "--out", out}).exit_code, 0);
}

TEST_F(CliGate, DoctorSaysWhatIsMissingAndTheMend) {
  const Outcome before = cli({"doctor"});
  EXPECT_EQ(before.exit_code, 1);
  EXPECT_THAT(before.out, AllOf(HasSubstr("copy has no baseline for host"),
                                HasSubstr("fix: kernelgrade bless --op copy"), HasSubstr("backend"),
                                HasSubstr("1 ms")));
  bless();
  EXPECT_THAT(cli({"doctor"}).out, Not(HasSubstr("has no baseline")));
  cli.edit("copy", "100000", "nan");
  EXPECT_THAT(cli({"doctor"}).out, HasSubstr("copy.csv:"));
  cli.behaviour.canary_ns = 5e6;
  EXPECT_THAT(cli({"doctor"}).out, HasSubstr("takes 5.00 times its blessed time"));
}

} // namespace
} // namespace kg::cli::test
