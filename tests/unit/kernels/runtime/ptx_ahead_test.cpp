// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a kernel must be compiled, those of its operation and type are compiled as well.
#include "runtime/atomic_file.h"
#include "runtime/jit.h"
#include "runtime/ptx/library.h"
#include "runtime/temporary_folder.h"
#include "tests/unit/kernels/runtime/ptx_snippet.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <thread>

// In whose place the PTX of its name runs; found by that, so it is exported.
extern "C" void ahead_first() {}

namespace kg::ptx_run {
namespace {

namespace fs = std::filesystem;

std::string kernel_named(const std::string& name) {
  std::string text = module_of("");
  for (std::size_t at; (at = text.find("snippet")) != std::string::npos;) text.replace(at, 7, name);
  return text;
}

std::size_t count_of(const fs::path& cache) {
  if (!fs::exists(cache)) return 0;
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(cache))
    count += entry.path().extension() == ".so";
  return count;
}

// What the process of the next test does: it launches the one, and waits until there are three.
TEST(PtxAhead, DISABLED_Launches) {
  ASSERT_TRUE(find(reinterpret_cast<const void*>(&ahead_first)).has_value());
  const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(4);
  while (count_of(jit::toolchain().cache) < 3 && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

TEST(PtxAhead, KernelsOfTheSameOperationAndType) {
  const TemporaryFolder folder;
  const fs::path cache = folder.path() / "cache";
  write_file(folder.path() / "op" / "a.ptx", kernel_named("ahead_first") +
                                                 kernel_named("of_6__half") +
                                                 kernel_named("ahead_second"));
  write_file(folder.path() / "op" / "b.ptx",
             kernel_named("of_13__nv_bfloat16") + kernel_named("ahead_third"));
  write_file(folder.path() / "another" / "c.ptx", kernel_named("ahead_fourth"));
  const std::string program = fs::read_symlink("/proc/self/exe");
  const std::string command =
      fmt::format("KERNELGRADE_PTX='{}' KERNELGRADE_JIT_CACHE='{}' '{}' "
                  "--gtest_also_run_disabled_tests --gtest_filter=PtxAhead.DISABLED_Launches",
                  folder.path().string(), cache.string(), program);
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(count_of(cache), 3u);
}

} // namespace
} // namespace kg::ptx_run
