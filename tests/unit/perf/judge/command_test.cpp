// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/command.h"

#include "runtime/temporary_folder.h"

#include <fstream>
#include <gtest/gtest.h>

namespace kg::judge {
namespace {

TEST(Command, IsRelativeAboveTheBuildTreeAndAbsoluteWithinIt) {
  const auto seen_from = [](const char* folder) {
    return commands_for(folder, "/src/build/host/perf/kernelgrade-lab", "/src/build/host",
                        "/no/such/folder:");
  };
  EXPECT_EQ(seen_from("/src").kernelgrade, "build/host/perf/kernelgrade");
  EXPECT_EQ(seen_from("/src").ctest, "ctest --test-dir build/host");
  for (const char* folder : {"/src/build/host", "/src/build/host/perf", "/src/docs", "/other"}) {
    EXPECT_EQ(seen_from(folder).kernelgrade, "/src/build/host/perf/kernelgrade") << folder;
    EXPECT_EQ(seen_from(folder).ctest, "ctest --test-dir /src/build/host") << folder;
  }
}

TEST(Command, IsTheBareNameWherePathLeadsToIt) {
  const TemporaryFolder folder;
  const auto make = [&](const char* name) {
    std::filesystem::create_directory(folder.path() / name);
    std::ofstream(folder.path() / name / "kernelgrade") << "#!/bin/sh\n";
    return folder.path() / name;
  };
  const auto ours = make("ours"), other = make("other");
  const auto command_by = [&](const std::string& path) {
    return commands_for("/", ours / "kernelgrade", "", path).kernelgrade;
  };
  EXPECT_EQ(command_by("/nowhere:" + ours.string() + ":" + other.string()), "kernelgrade");
  EXPECT_EQ(command_by(other.string() + ":" + ours.string()), (ours / "kernelgrade").string());
  EXPECT_EQ(command_by(""), (ours / "kernelgrade").string());
}

TEST(Command, IsOneWordOfTheShell) {
  EXPECT_EQ(commands_for("/", "/it's here/kernelgrade", "", "").kernelgrade,
            "'/it'\\''s here/kernelgrade'");
}

TEST(Command, IsWhatTheProgramSet) {
  EXPECT_EQ(command("list"), "kernelgrade list");
  set_commands({"build/host/perf/kernelgrade", "ctest --test-dir build/host"});
  EXPECT_EQ(command("list"), "build/host/perf/kernelgrade list");
  EXPECT_EQ(ctest_command("-N"), "ctest --test-dir build/host -N");
  set_commands({});
}

} // namespace
} // namespace kg::judge
