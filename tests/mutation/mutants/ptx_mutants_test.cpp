// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A folder of fat binaries is copied with one mutated text.
#include "tests/mutation/mutants/ptx_mutants.h"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/atomic_file.h"
#include "runtime/temporary_folder.h"

namespace kg::mutants {
namespace {

namespace fs = std::filesystem;

// The executor may compile all kernels of a folder. A mutant must not add other operations' kernels
// to those of its own.
TEST(PtxMutants, FilesStayInTheirOperationsFolder) {
  const TemporaryFolder folder;
  const fs::path all = fs::path(folder.path()) / "all", out = fs::path(folder.path()) / "out";
  const fs::path given = fs::path(KERNELGRADE_SOURCE_DIR) / "tests/fuzz/corpus/fatbin/ptx.fatbin";
  for (const char* file : {"gemm/tiled.fatbin", "gemm/split.fatbin", "sort/tiled.fatbin"}) {
    fs::create_directories((all / file).parent_path());
    fs::copy_file(given, all / file);
  }
  Mutant mutant;
  mutant.file = "gemm/tiled.fatbin";
  mutant.after = ".entry scale(";
  mutant.original = "mov.u32";
  mutant.mutant = "not.b32";
  write_mutated(all, mutant, out);

  EXPECT_THAT(read_file(out / "gemm/tiled.ptx").value_or(""), testing::HasSubstr("not.b32 %r5"));
  EXPECT_FALSE(fs::exists(out / "gemm/tiled.fatbin"));
  EXPECT_TRUE(fs::equivalent(out / "gemm/split.fatbin", all / "gemm/split.fatbin"));
  EXPECT_TRUE(fs::equivalent(out / "sort/tiled.fatbin", all / "sort/tiled.fatbin"));
}

} // namespace
} // namespace kg::mutants
