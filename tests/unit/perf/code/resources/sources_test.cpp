// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/resources/sources.h"

#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "tests/unit/perf/judge/exact_rows.h"
#include "tests/unit/perf/judge/folder.h"

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::resources {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// An op `scale` of one source with two headers, blessed as it is.
class SourcesOfAnOp : public testing::Test {
 protected:
  void SetUp() override {
    write("kernels/ops/scale/scale.cu", "#include \"ops/scale/scale.h\"\n");
    write("kernels/ops/scale/scale.h", "#include \"runtime/view.h\"\n");
    write("kernels/runtime/view.h", "struct View {};\n");
    write("kernels/runtime/host/view.h", "struct View {};\n"); // not for nvcc
    then_.ops["scale"] = {here_.version, "abc", *hash(), files_};
  }

  std::filesystem::path kernels() const { return folder_.path() / "kernels"; }
  void write(const std::string& name, const std::string& text) {
    write_file(folder_.path() / name, text);
  }
  std::optional<std::string> hash() const {
    return hash_sources(files_, kernels(), "scale", "sm_90a", here_.flags, blessed_.rows);
  }
  std::string changed(const std::string& op = "scale", std::string_view arch = "sm_90a") const {
    return why_changed(then_, blessed_, kernels(), op, arch, here_);
  }

  judge::test::Folder folder_;
  Compiler here_{"13.0.88", "-O3", {"sm_90a"}};
  std::vector<std::string> files_ = {"runtime/view.h", "ops/scale/scale.cu", "ops/scale/scale.h"};
  judge::ExactFile blessed_ = judge::test::file_of({judge::test::kernel("scale.naive")});
  judge::SourcesFile then_{"sm_90a-cuda13.0.csv", {}, ""};
};

TEST_F(SourcesOfAnOp, NeedNoCompilerWhereTheyAreUnchanged) {
  EXPECT_EQ(changed(), "");
  write("kernels/runtime/host/view.h", "struct View { int size; };\n");
  EXPECT_EQ(changed(), "") << "nvcc did not read it";
  EXPECT_EQ(why_unchanged(then_.ops["scale"], here_),
            "not compiled: sources, flags and nvcc 13.0.88 unchanged since abc");
  here_.version = "";
  EXPECT_EQ(changed(), "");
  EXPECT_THAT(why_unchanged(then_.ops["scale"], here_), HasSubstr("for want of nvcc"));
}

TEST_F(SourcesOfAnOp, AreOthersOnceOneTokenOfAHeaderChanges) {
  write("kernels/runtime/view.h", "struct View {} ; // of nothing\n");
  EXPECT_EQ(changed(), "");
  write("kernels/runtime/view.h", "struct View2 {};\n");
  EXPECT_THAT(changed(), HasSubstr("have changed since abc"));
}

TEST_F(SourcesOfAnOp, MustBeCompiledWithOtherFlagsAnotherNvccOrForAnotherArchitecture) {
  EXPECT_THAT(changed("scale", "sm_80"), HasSubstr("have changed"));
  here_.flags = "-O2";
  EXPECT_THAT(changed(), HasSubstr("have changed"));
  here_ = {"13.0.96", "-O3", {}};
  EXPECT_EQ(changed(), "nvcc 13.0.96 is here, and 13.0.88 made what is blessed");
}

TEST_F(SourcesOfAnOp, AFileThatIsGoneOrASourceThatIsNewCounts) {
  write("kernels/ops/scale/other.cu", "");
  EXPECT_THAT(changed(), HasSubstr("have changed"));
  std::filesystem::remove(kernels() / "ops/scale/other.cu");
  EXPECT_EQ(changed(), "");
  std::filesystem::remove(kernels() / "runtime/view.h");
  EXPECT_THAT(changed(), HasSubstr("have changed"));
  EXPECT_EQ(hash(), std::nullopt) << "so that nothing is blessed as such";
}

// So that nobody can take a figure out of the baselines, or change one, unseen.
TEST_F(SourcesOfAnOp, BelongToTheFiguresThatTheyWereBlessedWith) {
  blessed_.rows[0].why = "as good as before";
  EXPECT_EQ(changed(), "");
  blessed_.rows[0].values[1] = 8;
  EXPECT_THAT(changed(), HasSubstr("have changed"));
  blessed_.rows.clear();
  EXPECT_THAT(changed(), HasSubstr("have changed"));
  EXPECT_EQ(hash(), std::nullopt);
}

TEST_F(SourcesOfAnOp, AFileThatIsMissingForgedOrBrokenVouchesForNothing) {
  const std::filesystem::path path = folder_.path() / "sources.csv";
  then_ = judge::load_sources(path);
  EXPECT_EQ(then_.problem, "");
  EXPECT_THAT(changed(), HasSubstr("sources.csv does not name it"));

  const std::string header = "schema,op,compiler,commit,hash,files\n";
  const std::string files = "runtime/view.h;ops/scale/scale.cu;ops/scale/scale.h\n";
  write("sources.csv", header + "1,scale,13.0.88,abc," + *hash() + "," + files);
  then_ = judge::load_sources(path);
  EXPECT_EQ(changed(), "");
  write("sources.csv", header + "1,scale,13.0.88,abc,0123456789abcdef," + files);
  then_ = judge::load_sources(path);
  EXPECT_THAT(changed(), HasSubstr("have changed"));
  write("sources.csv", header + "1,scale,13.0.88,abc," + *hash() + ",ops/scale/scale.cu\n");
  then_ = judge::load_sources(path);
  EXPECT_THAT(changed(), HasSubstr("have changed")) << "shorter by two headers";
  write("sources.csv", header + "1,scale,13.0.88,abc," + *hash() + "," + files + "1,copy\n");
  then_ = judge::load_sources(path);
  EXPECT_THAT(changed(), HasSubstr("sources.csv:3: ")) << "one line of it is broken";
  blessed_.problems = {{"sm_90a-cuda13.0.csv", 7, "it is broken", "repair it"}};
  then_ = {"", {{"scale", {"13.0.88", "abc", *hash(), files_}}}, ""};
  EXPECT_THAT(changed(), HasSubstr("sm_90a-cuda13.0.csv:7: it is broken"));
}

TEST_F(SourcesOfAnOp, AreReadAsTheyWereWritten) {
  then_.path = folder_.path() / "sources" / "sm_90a-cuda13.0.csv";
  then_.ops["copy"] = {"13.0.88", "ab,c", "0123", {"copy/copy.cu"}};
  judge::save_sources(then_);
  const judge::SourcesFile read = judge::load_sources(then_.path);
  EXPECT_EQ(read.problem, "");
  EXPECT_EQ(read.ops, then_.ops);
  then_.ops["copy"].files = {"copy/a;b.cu"};
  EXPECT_THROW(judge::save_sources(then_), Error);
}

// What lies beside fatbins.
class FilesRead : public SourcesOfAnOp {
 protected:
  void SetUp() override {
    SourcesOfAnOp::SetUp();
    write("build/scale/scale.fatbin", "");
  }
  std::vector<std::string> read(const std::string& list) {
    write("build/scale/scale.d", list);
    return files_read(folder_.path() / "build/scale", folder_.path() / "build", kernels());
  }
};

TEST_F(FilesRead, AreThoseOfOursInAnyForm) {
  EXPECT_THAT(read("build/scale/scale.fatbin : ../kernels/ops/scale/scale.cu \\\n"
                   " /usr/include/stdio.h " +
                   (kernels() / "ops/scale/../scale/scale.h").string() +
                   " \\\n /opt/my\\ cuda/cuda_fp16.h\n"),
              ElementsAre("ops/scale/scale.cu", "ops/scale/scale.h"));
  EXPECT_TRUE(read("").empty());
  EXPECT_EQ(hash_sources({}, kernels(), "none", "sm_90a", "", blessed_.rows), std::nullopt);
}

TEST_F(FilesRead, AreNoOthersOfTheProject) {
  write("tests/scale.h", "");
  EXPECT_THROW(read("scale.fatbin: ../tests/scale.h\n"), Error);
}

TEST_F(FilesRead, AreOlderThanWhatWasMadeOfThem) {
  const std::string list = "scale.fatbin: ../kernels/runtime/view.h\n";
  EXPECT_EQ(read(list).size(), 1u);
  std::filesystem::last_write_time(kernels() / "runtime/view.h",
                                   std::filesystem::file_time_type::clock::now() +
                                       std::chrono::seconds(10));
  EXPECT_THROW(read(list), Error);
}

} // namespace
} // namespace kg::resources
