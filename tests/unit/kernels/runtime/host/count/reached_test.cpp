// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which sources decide costs: on invented ones, and on ours beside what the compiler says it read.
#include "perf/code/cost/reached.h"

#include "perf/code/cost/sources.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "runtime/temporary_folder.h"

#include <cstdio>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <regex>
#include <set>
#include <sstream>

namespace kg::cost {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class Reached : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    write_file(folder_.path() / name, text);
  }
  std::vector<std::string> from(const std::string& root) const {
    std::vector<std::string> names;
    for (const auto& [name, text] : reached(folder_.path(), {root})) names.push_back(name);
    return names;
  }
  TemporaryFolder folder_;
};

TEST_F(Reached, IncludesAreFollowedInAnyForm) {
  write("kernels/ops/scale/scale.cu", "#include \"near.h\"\n# include <runtime/view.h> // seen\n"
                                      "#if 0\n  #\tinclude \"tests/data.h\"\n#endif\n"
                                      "#include <vector>\n// #include \"none.h\"\n");
  write("kernels/ops/scale/near.h", "#include \"../../runtime/../runtime/deep.h\"\n");
  write("kernels/runtime/view.h", "#include \"ops/scale/near.h\"\n");
  write("kernels/runtime/deep.h", "");
  write("tests/data.h", "");
  write("kernels/none.h", "");
  EXPECT_THAT(from("kernels/ops/scale/scale.cu"),
              ElementsAre("kernels/ops/scale/near.h", "kernels/ops/scale/scale.cu",
                          "kernels/runtime/deep.h", "kernels/runtime/view.h", "tests/data.h"));
}

TEST_F(Reached, AHeaderReachesWhatDefinesIt) {
  for (const char* name :
       {"kernels/ops/scale/scale.h", "kernels/ops/scale/scale.cu", "kernels/ops/scale/jit.cuh",
        "kernels/ops/scale/mma.cu", "tests/data.h", "tests/data.cpp", "tests/other.cpp"})
    write(name, "");
  write("kernels/ops/scale/scale.md", "");
  EXPECT_THAT(from("kernels/ops/scale/scale.h"),
              ElementsAre("kernels/ops/scale/jit.cuh", "kernels/ops/scale/mma.cu",
                          "kernels/ops/scale/scale.cu", "kernels/ops/scale/scale.h"));
  EXPECT_THAT(from("tests/data.h"), ElementsAre("tests/data.cpp", "tests/data.h"));
}

TEST_F(Reached, WhatCannotBeFollowedIsAnError) {
  const auto error = [&](const char* text) {
    write("a.cpp", text);
    return [this] { from("a.cpp"); };
  };
  EXPECT_THAT(error("#include \"gone.h\"\n"), ThrowsMessage<Error>(HasSubstr("gone.h")));
  EXPECT_THAT(error("#include NAME\n"), ThrowsMessage<Error>(HasSubstr("not written out")));
  EXPECT_THROW(from("b.cpp"), Error);
}

// Of our own tree.
class DecidingFiles : public testing::Test {
 protected:
  const Texts& of(const std::string& op) {
    Texts& files = files_[op];
    if (files.empty()) files = deciding_files(KERNELGRADE_SOURCE_DIR, op);
    return files;
  }
  std::string hash(const Texts& files, const std::string& flags = "-O2") {
    return hash_sources(files, flags, blessed_);
  }
  std::map<std::string, Texts> files_;
  const Blessed blessed_{
      {"", true, {{{"softmax.f32.n64", "warp", "barriers"}, {1, 0}, "", "", 2}}, {}}, {}};
};

TEST_F(DecidingFiles, AreThoseOfTheKernelTheDeepestHeaderTheExecutorAndTheCard) {
  const std::string before = hash(of("softmax"));
  for (const char* name :
       {"kernels/ops/softmax/softmax.cu", "kernels/ops/softmax/warp_kernel.h",
        "kernels/instructions/shared_address.h", "kernels/runtime/host/launch.cpp",
        "kernels/runtime/host/count/counts.h", "kernels/runtime/host/half.h",
        "tests/ops/softmax/softmax_card.cu", "tests/oracle/random.cpp",
        "perf/code/cost/metrics.cpp", "perf/code/cost/bound.cpp",
        "perf/code/timing_model/model.cpp", "perf/code/timing_model/gpus.json",
        "perf/cli/cost_bound.cpp", "perf/measure/card_operation.cpp"}) {
    Texts files = of("softmax");
    ASSERT_TRUE(files.contains(name)) << name;
    files[name] += "// said\n";
    const bool is_code = !std::string_view(name).ends_with(".json");
    EXPECT_EQ(hash(files) == before, is_code) << name;
    files[name] += "int added;\n";
    EXPECT_NE(hash(files), before) << name;
  }
  for (const char* name :
       {"kernels/ops/gemm/gemm.cu", "kernels/runtime/ptx/library.cpp",
        "kernels/runtime/host/check/checker.cpp", "kernels/runtime/cuda/launch.cpp"}) {
    EXPECT_TRUE(std::filesystem::exists(std::string(KERNELGRADE_SOURCE_DIR "/") + name)) << name;
    EXPECT_FALSE(of("softmax").contains(name)) << name;
  }
  EXPECT_FALSE(of("softmax").contains("perf/report/report.cpp"));
  EXPECT_TRUE(of("conv2d").contains("kernels/ops/gemm/gemm_mma.cu")) << "whose run() it calls";
  EXPECT_TRUE(of("conv2d").contains("kernels/ops/conv2d/jit_kernel.cuh")) << "compiled at run time";
  EXPECT_NE(hash(of("softmax"), "-O1"), before);
}

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  char part[4096];
  while (pipe && std::fgets(part, sizeof part, pipe.get())) text += part;
  return text;
}

// Ninja keeps what the compiler read. Nothing of ours may be missing here that an operation's
// counted kernels or card, the emulator or the counters were made of; but for the emulator, the
// executor of PTX may.
TEST_F(DecidingFiles, AreAllThatTheCompilerRead) {
  const std::string source = std::string(KERNELGRADE_SOURCE_DIR) + "/";
  const std::regex object(
      "(?:CMakeFiles/kernelgrade_(.+)_(?:checked|card)|kernelgrade_(?:runtime|counters))[.]dir/"
      "(?!ptx/).*: #deps.*");
  std::set<std::string> ops;
  std::string op; // of the object; empty: of none
  bool of_emulator = false;
  std::istringstream lines(output_of("ninja -C " KERNELGRADE_BUILD_DIR " -t deps 2>&1"));
  std::size_t looked_at = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("    ")) {
      std::smatch match;
      op.clear();
      if (!std::regex_search(line, match, object)) continue;
      of_emulator = !match[1].matched;
      op = of_emulator ? "softmax" : match[1].str(); // any
      if (!std::filesystem::exists(source + "kernels/ops/" + op)) op.clear();
      continue;
    }
    if (op.empty()) continue;
    const std::filesystem::path read = std::filesystem::path(line.substr(4)).is_absolute()
                                           ? line.substr(4)
                                           : KERNELGRADE_BUILD_DIR "/" + line.substr(4);
    const std::string name = read.lexically_normal().string();
    if (!name.starts_with(source) || name.starts_with(KERNELGRADE_BUILD_DIR)) continue;
    if (of_emulator && name.starts_with(source + "kernels/runtime/ptx/")) continue;
    EXPECT_TRUE(of(op).contains(name.substr(source.size()))) << op << " read " << name;
    ++looked_at;
  }
  if (looked_at == 0) GTEST_SKIP() << "no build by Ninja";
}

} // namespace
} // namespace kg::cost
