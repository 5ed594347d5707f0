// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The cache of kernels compiled at run time: its keys, and what is compiled and what is not. On the
// host the compiler is a script that counts its calls.
#include "tests/unit/kernels/runtime/jit_support.h"

#include "runtime/atomic_file.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>
#include <set>
#include <sys/stat.h>
#include <thread>
#include <vector>

namespace kg::jit {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(JitKey, ChangesWithEachPart) {
  const Source source = {"a.cuh", "text", "kernel", {{"A", "1"}, {"B", "2"}}};
  const Toolchain tools = {"/c++", "1.2", "sm_80", {"-O3", "-g"}, "headers", "/cache"};
  const std::vector<std::function<void(Source&, Toolchain&)>> changes = {
      [](Source& s, Toolchain&) { s.name = "b.cuh"; },
      [](Source& s, Toolchain&) { s.text += ' '; },
      [](Source& s, Toolchain&) { s.constants["A"] = "2"; },
      [](Source& s, Toolchain&) { s.constants["C"] = "1"; },
      [](Source& s, Toolchain&) { s.constants.erase("B"); },
      [](Source& s, Toolchain&) {
        s.constants = {{"A1", ""}, {"B", "2"}};
      },
      // The same words in the same order, but other things.
      [](Source& s, Toolchain& t) {
        s.constants = {{"A", "1"}};
        t = {"B", "2", "/c++", {"sm_80", "headers", "-O3", "-g"}, "1.2", ""};
      },
      [](Source&, Toolchain& t) { t.compiler = "/clang++"; },
      [](Source&, Toolchain& t) { t.version = "1.3"; },
      [](Source&, Toolchain& t) { t.architecture = "sm_90"; },
      [](Source&, Toolchain& t) { t.flags[0] = "-O2"; },
      [](Source&, Toolchain& t) {
        t.flags = {"-O3-", "g"};
      },
      [](Source&, Toolchain& t) { std::swap(t.flags[0], t.flags[1]); },
      [](Source&, Toolchain& t) { t.headers = "others"; },
  };
  std::set<std::string> keys = {key(source, tools)};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Source other = source;
    Toolchain others = tools;
    changes[i](other, others);
    EXPECT_TRUE(keys.insert(key(other, others)).second) << "change " << i;
  }

  // The same code, wherever it is kept and whichever of its kernels is asked for.
  Source second = source;
  second.kernel = "other";
  Toolchain elsewhere = tools;
  elsewhere.cache = "/elsewhere";
  EXPECT_EQ(key(second, elsewhere), key(source, tools));
}

// A compiler that copies the lines with the constant, and leaves a mark for each source that it
// was given.
class JitCache : public Jit {
 protected:
  void SetUp() override {
    if (backend == Backend::cuda)
      GTEST_SKIP() << "NVRTC is not a program that a script can stand for";
    write_compiler("");
  }

  // `before` are further lines of the script, which run before it compiles.
  void write_compiler(const std::string& before) {
    const std::string file = folder_.path() / "compiler";
    write_file(file, fmt::format("#!/bin/sh\n"
                                 "[ \"$1\" != --version ] || {{ echo 'a compiler 1'; exit; }}\n"
                                 "[ \"$1\" != -shared ] || exec cp \"$5\" \"$4\"\n"
                                 "cd '{}' && : > call.$$ || exit 1\n"
                                 "{}"
                                 "while [ \"$1\" != -o ]; do shift; done\n"
                                 "{{ echo code of; grep KG_COUNT \"$3\"; }} > \"$2\"\n",
                                 folder_.path().string(), before));
    ASSERT_EQ(chmod(file.c_str(), 0755), 0);
  }

  std::size_t calls() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      count += entry.path().filename().string().starts_with("call.");
    return count;
  }

  static MachineCode code_of(int count) {
    return machine_code(axpy(count), toolchain(some_architecture()));
  }

 private:
  TemporaryFolder folder_;
  Variable compiler_{"KERNELGRADE_JIT_CXX", (folder_.path() / "compiler").string()};
};

TEST_F(JitCache, TheSecondCallDoesNotCompile) {
  const MachineCode first = code_of(3);
  EXPECT_FALSE(first.from_cache);
  EXPECT_GT(first.compile_us, 0);
  EXPECT_EQ(first.bytes.substr(0, 8), "code of\n");
  EXPECT_EQ(calls(), 1u);

  write_compiler("echo 'axpy.cuh:3: error: out of order'; exit 1\n");
  const MachineCode second = code_of(3);
  EXPECT_TRUE(second.from_cache);
  EXPECT_EQ(second.bytes, first.bytes);
  EXPECT_EQ(second.file, first.file);
  EXPECT_EQ(second.compile_us, first.compile_us);
  EXPECT_EQ(calls(), 1u);

  // What is not there is asked of the compiler, whose refusal is an error.
  EXPECT_THAT(error_of([] { code_of(4); }),
              AllOf(HasSubstr("does not compile"), HasSubstr("axpy.cuh:3: error: out of order")));
  EXPECT_EQ(calls(), 2u);
}

TEST_F(JitCache, ACompilerThatMakesNothing) {
  write_compiler("exit 0\n");
  EXPECT_THAT(error_of([] { code_of(3); }),
              AllOf(HasSubstr("does not compile"), HasSubstr("kernel.o")));
}

TEST_F(JitCache, ADamagedEntryIsCompiledAgain) {
  const MachineCode good = code_of(3);
  const std::string entry = *read_file(good.file);
  const std::string other = *read_file(code_of(4).file);
  std::vector<std::string> damaged = {
      "", entry.substr(0, entry.size() - 1), entry + ' ', other, good.bytes, entry.substr(1)};
  for (const std::size_t at : {std::size_t{0}, good.bytes.size(), good.bytes.size() + 20,
                               entry.size() - 1}) { // code, mark, time, checksum
    damaged.push_back(entry);
    damaged.back()[at] ^= 1;
  }
  for (std::size_t i = 0; i < damaged.size(); ++i) {
    SCOPED_TRACE(fmt::format("damage {}", i));
    write_file(good.file, damaged[i]);
    const std::size_t before = calls();
    const MachineCode repaired = code_of(3);
    EXPECT_FALSE(repaired.from_cache);
    EXPECT_EQ(repaired.bytes, good.bytes);
    EXPECT_EQ(calls(), before + 1);
    EXPECT_TRUE(code_of(3).from_cache);
    EXPECT_EQ(calls(), before + 1);
  }
}

TEST_F(JitCache, AFolderThatCannotBeWritten) {
  const Variable file("KERNELGRADE_JIT_CACHE", "/dev/null/cache");
  EXPECT_THAT(error_of([] { code_of(3); }), HasSubstr("/dev/null/cache"));
}

TEST_F(JitCache, OfTwoThreadsOneCompiles) {
  write_compiler("sleep 0.3\n");
  bool from_cache = true;
  std::thread other([&] { from_cache = code_of(3).from_cache; });
  const bool own_from_cache = code_of(3).from_cache;
  other.join();
  EXPECT_NE(own_from_cache, from_cache);
  EXPECT_EQ(calls(), 1u);
}

// What each of the two processes of the next test does.
TEST(JitProcess, DISABLED_Compiles) {
  const MachineCode code = machine_code(axpy(3), toolchain(some_architecture()));
  EXPECT_FALSE(code.from_cache);
  EXPECT_EQ(code.bytes,
            "code of\n#define KG_COUNT 3\n  if (i < KG_COUNT) y[i] = fmaf(a, x[i], y[i]);\n");
}

TEST_F(JitCache, TwoProcessesAtOnce) {
  // Each compiles only when the other has begun to.
  write_compiler("tries=0\n"
                 "until [ \"$(ls call.* | wc -l)\" -ge 2 ]; do\n"
                 "  tries=$((tries + 1)); [ $tries -lt 3000 ] || exit 1; sleep 0.01\n"
                 "done\n");
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command = fmt::format(
      "'{}' --gtest_also_run_disabled_tests --gtest_filter=JitProcess.DISABLED_Compiles", program);
  std::FILE* const one = popen(command.c_str(), "r");
  std::FILE* const two = popen(command.c_str(), "r");
  ASSERT_TRUE(one && two);
  for (std::FILE* const process : {one, two}) {
    std::string output;
    for (int c; (c = std::fgetc(process)) != EOF;) output += static_cast<char>(c);
    EXPECT_EQ(pclose(process), 0) << output;
  }
  EXPECT_EQ(calls(), 2u);
  EXPECT_TRUE(code_of(3).from_cache);
  // The entry, and nothing that was left lying.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(cache()), {}), 1);
}

} // namespace
} // namespace kg::jit
