// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/atomic_file.h"

#include "tests/unit/perf/judge/folder.h"

#include "runtime/error.h"

#include <csignal>
#include <gtest/gtest.h>
#include <string>
#include <sys/resource.h>

namespace kg::judge {
namespace {

using test::Folder;

TEST(AtomicFile, WritesReadsAndReplaces) {
  const Folder folder;
  const auto path = folder.path() / "new" / "f.csv";
  EXPECT_EQ(read_file(path), std::nullopt);
  write_file(path, "old");
  write_file(path, std::string("new\0er", 6));
  EXPECT_EQ(read_file(path), std::string("new\0er", 6));
  EXPECT_EQ(folder.count_files(), 1) << "no temporary file stays behind";
  const auto permissions = std::filesystem::status(path).permissions();
  EXPECT_NE(permissions & std::filesystem::perms::others_read, std::filesystem::perms::none);
}

TEST(AtomicFile, AFailingRenameLeavesTheOldContents) {
  const Folder folder;
  const auto path = folder.path() / "f.csv";
  std::filesystem::create_directory(path); // a folder cannot be replaced by a file
  write_file(path / "old", "old");
  EXPECT_THROW(write_file(path, "new"), Error);
  EXPECT_EQ(read_file(path / "old"), "old");
  EXPECT_EQ(folder.count_files(), 1) << "no temporary file stays behind";
}

TEST(AtomicFile, AFullDiskLeavesTheOldContents) {
  const Folder folder;
  const auto path = folder.path() / "f.csv";
  write_file(path, "old");
  // The file size limit stands in for a full disk: the write stops half-way.
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(write_file(path, std::string(5000, 'x')), Error);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(folder.count_files(), 1) << "no temporary file stays behind";
}

TEST(AtomicFile, ErrorsNameThePathAndTheReason) {
  const Folder folder;
  write_file(folder.path() / "file", "x");
  try {
    write_file(folder.path() / "file" / "below", "y");
    FAIL() << "a file cannot be a folder";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find((folder.path() / "file" / "below").string()),
              std::string::npos)
        << error.what();
  }
  EXPECT_THROW(read_file(folder.path() / "file" / "below"), Error) << "this is not a missing file";
  EXPECT_THROW(read_file(folder.path()), Error) << "a folder is there, but is not a file";
}

TEST(MappedFile, HasTheBytesThatWereThere) {
  const Folder folder;
  const auto path = folder.path() / "f";
  EXPECT_THROW(MappedFile{path}, Error) << "no file";
  EXPECT_THROW(MappedFile{folder.path()}, Error) << "a folder";
  write_file(path, "");
  EXPECT_EQ(MappedFile(path).contents(), "");
  write_file(path, std::string("ol\0d", 4));
  const MappedFile mapped(path);
  write_file(path, "new");
  EXPECT_EQ(mapped.contents(), std::string_view("ol\0d", 4));
}

} // namespace
} // namespace kg::judge
