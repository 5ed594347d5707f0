// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/resources/definition.h"

#include "runtime/atomic_file.h"
#include "tests/unit/perf/judge/folder.h"

#include <gtest/gtest.h>

namespace kg::resources {
namespace {

class Definition : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    write_file(folder_.path() / name, text);
  }
  // Relative to the folder.
  std::string found(const std::string& kernel, const std::string& first = "") {
    const std::string place = definition_of(kernel, sources_in(folder_.path(), first));
    return place.empty() ? "" : std::filesystem::path(place).filename().string();
  }
  judge::test::Folder folder_;
};

TEST_F(Definition, IsTheLineOfTheName) {
  write("scan.cu", "namespace kg::scan {\n__global__ void naive(const float* x) {}\n"
                   "template <class T, int N>\n__global__ void __launch_bounds__(f(N), 2)\n"
                   "    tiled(const T* x,\n          T* y) {\n}\n}\n");
  EXPECT_EQ(found("kg::scan::naive"), "scan.cu:2");
  EXPECT_EQ(found("kg::scan::tiled<(kg::scan::Op)0, 4>"), "scan.cu:5");
  EXPECT_EQ(found("kg::scan::til"), "") << "all of the name";
  EXPECT_EQ(found("tiled"), "scan.cu:5");
  EXPECT_EQ(found("kg::scan::launched"), "");
}

TEST_F(Definition, IsNoDeclarationAndNoHostFunction) {
  write("a.h", "__global__ void naive(float* x);\nvoid tiled(float* x) {}\n");
  write("b.cu", "// __global__\n#include \"a.h\"\n__global__ void naive(float* x) { tiled(x); }\n");
  EXPECT_EQ(found("naive"), "b.cu:3");
  EXPECT_EQ(found("tiled"), "");
}

TEST_F(Definition, TheFilesOwnSourceComesFirst) {
  write("a.cu", "__global__ void naive() {}\n");
  write("b.cu", "\n__global__ void naive() {}\n");
  write("notes.txt", "__global__ void other() {}\n");
  EXPECT_EQ(found("naive"), "a.cu:1");
  EXPECT_EQ(found("naive", "b"), "b.cu:2");
  EXPECT_EQ(found("other"), "") << "no source";
  EXPECT_TRUE(sources_in(folder_.path() / "missing", "").empty());
}

} // namespace
} // namespace kg::resources
