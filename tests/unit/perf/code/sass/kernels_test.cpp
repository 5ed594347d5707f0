// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// An op's folder of compiled kernels, with a stand-in for nvdisasm that writes a file.
#include "perf/code/sass/kernels.h"

#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "runtime/temporary_folder.h"

#include <filesystem>
#include <gmock/gmock.h>

namespace kg::sass {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Kernels : public testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path made = KERNELGRADE_TEST_FILES;
    if (!std::filesystem::exists(made / "kernels.fatbin"))
      GTEST_SKIP() << "nvcc not found, which compiles device code";
    std::filesystem::create_directory(op());
    for (const char* name : {"kernels.fatbin", "kernels.log"})
      std::filesystem::copy(made / name, op() / name);
    disassembles_to(read_file(KERNELGRADE_SASS).value());
  }

  std::filesystem::path op() const { return folder_.path() / "read"; }
  std::filesystem::path program() const { return folder_.path() / "nvdisasm"; }

  void disassembles_to(const std::string& text) {
    write_file(folder_.path() / "text", text);
    write_file(program(), "#!/bin/sh\nexec cat " + (folder_.path() / "text").string() + "\n");
    std::filesystem::permissions(program(), std::filesystem::perms::owner_all);
  }

  std::vector<Kernel> read(const resources::Launches& launches = {}) const {
    return kernels_in(op(), "sm_90a", "read", launches, program());
  }

  TemporaryFolder folder_;
};

TEST_F(Kernels, HaveTheirNamesAndWhatPtxasGaveThem) {
  const std::vector<Kernel> found = read();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].key, "read.divided");
  EXPECT_EQ(found[2].key, "read.together");
  EXPECT_EQ(found[2].name, "kg::read::together");
  EXPECT_EQ(found[2].threads, 1024); // no launch bounds
  EXPECT_GT(found[2].registers, 16); // four packs
  EXPECT_EQ(found[2].warps, 64);
  EXPECT_EQ(found[2].analysis.main_part().flight.bytes_in_flight(), 64);
}

TEST_F(Kernels, ResidentWarpsAreThoseOfTheLaunch) {
  // 100 KiB of shared memory for each block of 4 warps: two fit into 228.
  const std::vector<Kernel> found = read({{"kg::read::together", {128, 100 * 1024}}});
  EXPECT_EQ(found[2].warps, 8);
  EXPECT_EQ(found[2].shared_bytes, 100 * 1024);
  EXPECT_EQ(found[0].warps, 64);
}

TEST_F(Kernels, WhatTheDisassemblerLeavesOutIsAnError) {
  const std::string text = read_file(KERNELGRADE_SASS).value();
  disassembles_to(text.substr(0, text.find("//----", text.find("//----") + 10)));
  try {
    read();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr(op().string()), HasSubstr("lacks the kernel read.")));
  }
}

} // namespace
} // namespace kg::sass
