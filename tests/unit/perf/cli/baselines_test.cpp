// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Baseline files that are gone, or that were never there.
#include "tests/unit/perf/cli/world.h"

#include "perf/judge/device_file.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <string>

namespace kg::cli::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CliBaselines : public testing::Test {
 protected:
  Cli cli;
};

TEST_F(CliBaselines, AFileThatIsGoneFailsWhileTheDeviceHasOthers) {
  ASSERT_EQ(cli({"bless"}).exit_code, 0);
  for (const char* left : {"copy.csv", "device.json"}) {
    SCOPED_TRACE(left);
    for (const auto& file : std::filesystem::directory_iterator(cli.csv("fill").parent_path()))
      if (file.path().filename() != left) std::filesystem::remove(file.path());
    const Outcome outcome = cli({"gate", "--op", "fill", "--dtype", "f32"});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.out,
                AllOf(HasSubstr("fill.csv is missing: restore it"), HasSubstr("FAILED")));
    ASSERT_EQ(cli({"bless"}).exit_code, 0);
  }
  std::filesystem::remove_all(cli.csv("fill").parent_path());
  EXPECT_EQ(cli({"gate", "--op", "fill"}).exit_code, 77) << "nobody has blessed this device";
}

TEST_F(CliBaselines, ALinkToNothingIsNoBaselineAndNoLackOfOne) {
  ASSERT_EQ(cli({"bless"}).exit_code, 0);
  const std::filesystem::path csv = cli.csv("fill"), folder = csv.parent_path();
  std::filesystem::remove(csv);
  std::filesystem::create_symlink("nowhere.csv", csv);
  const Outcome file = cli({"gate", "--op", "fill"});
  EXPECT_EQ(file.exit_code, 1);
  EXPECT_THAT(file.out, HasSubstr("fill.csv: it is a link to nowhere.csv, which does not exist"));
  std::filesystem::remove_all(folder);
  std::filesystem::create_symlink("nowhere", folder);
  const Outcome all = cli({"gate", "--op", "fill"});
  EXPECT_EQ(all.exit_code, 1);
  EXPECT_THAT(all.err, HasSubstr("host: it is a link to nowhere, which does not exist"));
}

TEST_F(CliBaselines, TheFirstBlessNamesWhatItLeavesOut) {
  const auto not_blessed = [this] {
    return judge::load_device(cli.csv("fill").parent_path() / "device.json").value().not_blessed;
  };
  ASSERT_EQ(cli({"bless", "--op", "fill"}).exit_code, 0);
  EXPECT_EQ(not_blessed(), std::set<std::string>{"copy"});
  EXPECT_EQ(cli({"gate", "--op", "copy"}).exit_code, 77);
  EXPECT_THAT(cli({"doctor"}).out,
              AllOf(HasSubstr("operations without timing baselines for host: 1"),
                    Not(HasSubstr("copy has no baseline"))));
  ASSERT_EQ(cli({"bless", "--op", "copy"}).exit_code, 0);
  EXPECT_EQ(not_blessed(), std::set<std::string>{});
  std::filesystem::remove(cli.csv("copy"));
  EXPECT_EQ(cli({"gate", "--op", "copy"}).exit_code, 1);
  ASSERT_EQ(cli({"bless", "--op", "fill", "--why", "again"}).exit_code, 0);
  EXPECT_EQ(not_blessed(), std::set<std::string>{}) << "only the first bless names any";
}

TEST_F(CliBaselines, AnOperationIsNotBothBlessedAndNot) {
  ASSERT_EQ(cli({"bless", "--op", "fill"}).exit_code, 0);
  judge::DeviceFile device =
      judge::load_device(cli.csv("fill").parent_path() / "device.json").value();
  device.not_blessed.insert("fill");
  judge::save_device(cli.csv("fill").parent_path() / "device.json", device);
  const Outcome outcome = cli({"gate", "--op", "fill"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("device.json:0: /not_blessed names fill, which"));
}

} // namespace
} // namespace kg::cli::test
