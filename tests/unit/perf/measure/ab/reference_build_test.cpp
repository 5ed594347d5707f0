// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Builds of other commits, of a project whose build copies one file.
#include "perf/measure/ab/git.h"
#include "perf/measure/ab/reference_build.h"
#include "tests/unit/perf/measure/ab/repository.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

namespace kg::ab {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* kProject = R"cmake(
cmake_minimum_required(VERSION 3.25)
project(Tiny NONE)
file(WRITE ${CMAKE_BINARY_DIR}/flags "${CMAKE_CXX_FLAGS} ${KERNELGRADE_OPS}")
add_custom_target(kernelgrade COMMAND sh ${CMAKE_SOURCE_DIR}/build.sh)
)cmake";

// Makes a program that says "one <flags>", and counts itself in a file beside the repository.
constexpr const char* kScript = R"sh(set -e
echo built >>'{}/count'
mkdir -p perf
{{ echo '#!/bin/sh'; echo "echo 'one $(cat flags)'"; }} >perf/kernelgrade
chmod +x perf/kernelgrade
)sh";

class Reference : public testing::Test {
 protected:
  void SetUp() override {
    repository_.write("CMakeLists.txt", kProject);
    repository_.write("build.sh", fmt::format(kScript, repository_.beside().string()));
    first_ = repository_.commit();
    configure("-O3");
  }

  void configure(const std::string& flags) const {
    write_file(plan().build / "CMakeCache.txt",
               fmt::format("# comment\n//help\nCMAKE_CXX_FLAGS:STRING={}\n"
                           "CMAKE_GENERATOR:INTERNAL=Ninja\nUNKNOWN:BOOL=ON\n",
                           flags));
  }
  BuildPlan plan() const {
    return {
        repository_.tree(), repository_.beside() / "build", repository_.beside() / "cache", {}, {}};
  }
  void change_script(const std::string& command) const {
    repository_.in_tree(command + " build.sh >new && mv new build.sh");
  }
  std::string builds() const { return read_file(repository_.beside() / "count").value_or(""); }
  // Entries of the cache, the lock among them.
  long kept() const { return std::distance(std::filesystem::directory_iterator(plan().cache), {}); }
  static std::string output(const std::filesystem::path& program) {
    return perf::run_process({program.string()}, perf::Output::capture).output;
  }

  test::Repository repository_;
  std::string first_;
};

TEST_F(Reference, IsBuiltFromItsCommitWithTheFlagsOfThisBuild) {
  change_script("sed s/one/two/");
  repository_.commit();
  const ReferenceBuild old = reference_build(plan(), "HEAD~1");
  EXPECT_EQ(old.commit, first_);
  EXPECT_EQ(output(old.executable), "one -O3 \n");
  EXPECT_EQ(output(old.control), "one -O3 \n");
  EXPECT_NE(old.executable.parent_path(), old.control.parent_path());
  EXPECT_EQ(output(reference_build(plan(), "HEAD").executable), "two -O3 \n");
  EXPECT_EQ(repository_.in_tree("git status --porcelain; git worktree list | wc -l"), "1\n");
}

TEST_F(Reference, IsBuiltOnceAndFoundByAnyName) {
  const ReferenceBuild built = reference_build(plan(), "HEAD");
  EXPECT_EQ(reference_build(plan(), first_).executable, built.executable);
  EXPECT_EQ(builds(), "built\n");
  EXPECT_EQ(kept(), 2);
}

TEST_F(Reference, OtherFlagsMakeAnotherBuild) {
  const ReferenceBuild optimised = reference_build(plan(), "HEAD");
  configure("-O0");
  EXPECT_EQ(output(reference_build(plan(), "HEAD").executable), "one -O0 \n");
  EXPECT_EQ(output(optimised.executable), "one -O3 \n");
}

TEST_F(Reference, HoldsTheOperationsThatItIsAskedFor) {
  BuildPlan two = plan();
  two.ops = {"softmax", "gemm"};
  EXPECT_EQ(output(reference_build(two, "HEAD").executable), "one -O3 gemm;softmax\n");
  std::reverse(two.ops.begin(), two.ops.end());
  reference_build(two, "HEAD");
  EXPECT_EQ(builds(), "built\n");
  EXPECT_EQ(output(reference_build(plan(), "HEAD").executable), "one -O3 \n");
}

TEST_F(Reference, TwoThatWantOneBuildMakeItOnce) {
  std::string other;
  std::thread second([&] { other = reference_build(plan(), "HEAD").executable.string(); });
  const ReferenceBuild built = reference_build(plan(), "HEAD");
  second.join();
  EXPECT_EQ(built.executable, other);
  EXPECT_EQ(builds(), "built\n");
}

TEST_F(Reference, AFailingBuildShowsTheEndOfItsLogAndIsNotKept) {
  change_script("sed 's/^mkdir/echo \"kernel.cu:7: error: no such thing\"; exit 1; mkdir/'");
  const std::string bad = repository_.commit();
  for (int attempt = 0; attempt < 2; ++attempt)
    EXPECT_THAT([&] { reference_build(plan(), "HEAD"); },
                ThrowsMessage<Error>(AllOf(HasSubstr(bad), HasSubstr("cannot be built"),
                                           HasSubstr("kernel.cu:7: error: no such thing"))));
  EXPECT_EQ(builds(), "built\nbuilt\n") << "each attempt builds";
  EXPECT_EQ(kept(), 2) << "the lock and the log";
  EXPECT_EQ(output(reference_build(plan(), first_).executable), "one -O3 \n");
}

TEST_F(Reference, ABuildThatWasInterruptedIsMadeAnew) {
  write_file(plan().cache / "work" / "build" / "CMakeCache.txt", "half of a");
  write_file(plan().cache / "work" / "done" / "kernelgrade", "half of a program");
  EXPECT_EQ(output(reference_build(plan(), "HEAD").executable), "one -O3 \n");
  EXPECT_EQ(kept(), 2);
}

TEST_F(Reference, ACommitWithoutTheCommandSaysSo) {
  change_script("sed s,perf/kernelgrade,perf/grader,");
  repository_.commit();
  EXPECT_THAT([&] { reference_build(plan(), "HEAD"); },
              ThrowsMessage<Error>(HasSubstr("builds no perf/kernelgrade")));
}

TEST_F(Reference, WhatIsMissingIsNamed) {
  EXPECT_THAT([&] { reference_build(plan(), "v9"); }, ThrowsMessage<UnknownRef>(HasSubstr("v9")));
  std::filesystem::remove(plan().build / "CMakeCache.txt");
  EXPECT_THAT([&] { reference_build(plan(), "HEAD"); },
              ThrowsMessage<Error>(HasSubstr("no CMakeCache.txt")));
}

} // namespace
} // namespace kg::ab
