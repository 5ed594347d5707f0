// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Child processes, the device's lock, and what is said about the environment.
#include "perf/measure/child_process.h"
#include "perf/measure/device_lock.h"
#include "perf/measure/environment.h"
#include "perf/measure/source_folder.h"
#include "runtime/backend.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/temporary_folder.h"

#include <atomic>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

namespace kg::perf {
namespace {

using kg::TemporaryFolder;
using testing::EndsWith;
using testing::MatchesRegex;
using testing::Not;

Finished shell(const std::string& script) {
  return run_process({"sh", "-c", script}, Output::capture);
}

TEST(RunProcess, GivesOutputAndExitCode) {
  const Finished finished = shell("echo hello; echo hidden >&2; exit 7");
  EXPECT_EQ(finished.output, "hello\n");
  EXPECT_EQ(finished.exit_code, 7);
}

TEST(RunProcess, ReadsMoreThanAPipeHolds) {
  EXPECT_EQ(shell("head -c 1000000 /dev/zero").output.size(), 1000000u);
}

TEST(RunProcess, NamesASignalAsShellsDo) { EXPECT_EQ(shell("kill -9 $$").exit_code, 128 + 9); }

TEST(RunProcess, PassesArgumentsUnchanged) {
  EXPECT_EQ(run_process({"printf", "%s|%s", "a b", "$HOME"}, Output::capture).output, "a b|$HOME");
}

TEST(RunProcess, SaysWhatCannotBeStarted) {
  EXPECT_THROW(run_process({"/no/such/program"}, Output::capture), Error);
  EXPECT_THROW(run_process({}, Output::capture), Error);
}

TEST(RunWatched, KillsAProcessThatStandsStill) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "file";
  const Finished finished = run_watched({"sleep", "1000"}, {file, std::chrono::milliseconds(50)});
  EXPECT_TRUE(finished.stalled);
  EXPECT_EQ(ending(finished), "by signal 9 (SIGKILL)");
}

TEST(RunWatched, LetsAProcessEndByItself) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "file";
  const Finished finished = run_watched({"sh", "-c", "exit 7"}, {file, std::chrono::hours(1)});
  EXPECT_FALSE(finished.stalled);
  EXPECT_EQ(ending(finished), "with exit code 7");
  EXPECT_EQ(ending(run_watched({"sh", "-c", "kill -11 $$"}, {file, std::chrono::hours(1)})),
            "by signal 11 (SIGSEGV)");
}

TEST(DeviceLock, LetsOneHolderThroughAtATime) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "lock";
  std::atomic<bool> released = false, waited = false, seen_released = false;
  std::thread second;
  {
    const DeviceLock first(path, [] { FAIL() << "nobody else holds it"; });
    second = std::thread([&] {
      const DeviceLock lock(path, [&] { waited = true; });
      seen_released = released.load();
    });
    while (!waited) std::this_thread::yield(); // it has found the lock taken
    released = true;
  }
  second.join();
  EXPECT_TRUE(seen_released);
}

TEST(DeviceLock, SaysWhereItCannotLock) {
  EXPECT_THROW(DeviceLock("/no/such/folder/lock", [] {}), Error);
}

TEST(DeviceLock, HasOneFilePerDevice) {
  EXPECT_EQ(device_lock_path("nvidia-h200").filename(), "kernelgrade-nvidia-h200.lock");
}

class SourceId : public testing::Test {
 protected:
  void SetUp() override {
    if (shell("git --version").exit_code != 0) GTEST_SKIP() << "git is not installed";
  }
  void in_tree(const std::string& script) {
    const Finished finished = shell("cd '" + folder_.path().string() + "' && " + script);
    ASSERT_EQ(finished.exit_code, 0) << script;
  }
  std::string id() const { return source_id(folder_.path()); }

  TemporaryFolder folder_;
};

TEST_F(SourceId, NamesTheCommitAndSaysWhetherTheTreeDiffers) {
  in_tree("git init -q && mkdir baselines && touch kernel baselines/a.csv && git add -A && "
          "git -c user.name=t -c user.email=t@t commit -q -m first");
  EXPECT_THAT(id(), MatchesRegex("[0-9a-f]+"));
  in_tree("touch untracked");
  EXPECT_THAT(id(), Not(EndsWith("-dirty")));
  in_tree("echo changed > baselines/a.csv");
  EXPECT_THAT(id(), Not(EndsWith("-dirty"))) << "baselines are not source";
  in_tree("echo changed > kernel");
  EXPECT_THAT(id(), EndsWith("-dirty"));
}

TEST_F(SourceId, IsUnknownWithoutAWorkTree) { EXPECT_EQ(id(), "unknown"); }

TEST(Environment, SaysWhatMattersForATiming) {
  if (const std::string reason = device_unavailable_reason(); !reason.empty())
    GTEST_SKIP() << reason;
  const Environment here = environment("abc123");
  for (const char* key : {"backend", "device", "device_name", "cpu", "cores", "os", "compiler",
                          "compute_capability", "l2_bytes"})
    EXPECT_TRUE(here.contains(key) && !here.at(key).empty()) << key;
  EXPECT_EQ(here.at("source"), "abc123");
  EXPECT_EQ(here.at("backend"), name(backend));
}

TEST(Environment, FingerprintLeavesOutWhatChangesFromDayToDay) {
  const Environment print = fingerprint({{"device", "host"}, {"source", "abc"}, {"date_utc", "x"}});
  EXPECT_EQ(print, (Environment{{"device", "host"}}));
}

TEST(Environment, DatesAreIso8601InUtc) {
  EXPECT_THAT(utc_now(), MatchesRegex("20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"));
}

TEST(SourceFolder, IsTheCheckoutOrTheBundleAroundTheProgram) {
  const TemporaryFolder checkout, bundle;
  const auto program = bundle.path() / "build" / "cuda" / "perf" / "kernelgrade";
  EXPECT_EQ(source_folder(checkout.path(), program), checkout.path()); // for messages
  std::filesystem::create_directories(bundle.path() / "baselines");
  EXPECT_EQ(source_folder(checkout.path(), program), bundle.path());
  std::filesystem::create_directories(checkout.path() / "baselines");
  EXPECT_EQ(source_folder(checkout.path(), program), checkout.path());
}

} // namespace
} // namespace kg::perf
