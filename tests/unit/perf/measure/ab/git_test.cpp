// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What is read from the history: commits by name, the commit behind a line, and the tree of a
// commit.
#include "perf/measure/ab/git.h"
#include "tests/unit/perf/measure/ab/repository.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::ab {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

class Git : public testing::Test {
 protected:
  void SetUp() override {
    repository_.write("rows.csv", "header\nfirst,1\nsecond,1\n");
    repository_.write("kernel", "old");
    first_ = repository_.commit();
    repository_.write("rows.csv", "header\nfirst,1\nsecond,2\n");
    second_ = repository_.commit();
    repository_.write("kernel", "new");
    third_ = repository_.commit();
  }
  // The last two commits only.
  std::filesystem::path shallow() const {
    repository_.in_tree("git clone -q --depth 2 \"file://$PWD\" ../shallow");
    return repository_.beside() / "shallow";
  }

  test::Repository repository_;
  std::string first_, second_, third_;
};

TEST_F(Git, CommitsAreFoundByWhateverNamesThem) {
  repository_.in_tree("git tag v1 HEAD~2");
  EXPECT_EQ(commit_of(repository_.tree(), "HEAD"), third_);
  EXPECT_EQ(commit_of(repository_.tree(), "HEAD~1"), second_);
  EXPECT_EQ(commit_of(repository_.tree(), "v1"), first_);
  EXPECT_EQ(commit_of(repository_.tree(), first_.substr(0, 12)), first_);
}

TEST_F(Git, AnUnknownCommitIsNamed) {
  EXPECT_THAT([&] { commit_of(repository_.tree(), "v9"); },
              ThrowsMessage<UnknownRef>(HasSubstr("v9: ")));
  EXPECT_THROW(commit_of(repository_.tree(), "--all"), UnknownRef);
  EXPECT_THAT([&] { commit_of(shallow(), first_); },
              ThrowsMessage<UnknownRef>(HasSubstr("git fetch --unshallow")));
}

TEST_F(Git, AFolderWithoutHistoryIsNoUnknownCommit) {
  try {
    commit_of(repository_.beside(), "HEAD");
    FAIL() << "it throws";
  } catch (const UnknownRef&) {
    FAIL() << "nobody has named a wrong commit";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("not in a git work tree"));
  }
}

TEST_F(Git, ALineBelongsToTheCommitThatLastChangedIt) {
  EXPECT_EQ(last_change(repository_.path("rows.csv"), 2), first_);
  EXPECT_EQ(last_change(repository_.path("rows.csv"), 3), second_);
}

TEST_F(Git, ALineThatNoCommitHoldsHasNone) {
  repository_.write("rows.csv", "header\nfirst,9\nsecond,2\n");
  repository_.write("new.csv", "header\n");
  const auto change = [&](const char* file, std::size_t line) {
    return [&, file, line] { last_change(repository_.path(file), line); };
  };
  EXPECT_THAT(change("rows.csv", 2),
              ThrowsMessage<Error>(AllOf(HasSubstr("rows.csv:2"), HasSubstr("not committed"))));
  EXPECT_THAT(change("rows.csv", 4), ThrowsMessage<Error>(HasSubstr("knows no such line")));
  EXPECT_THAT(change("new.csv", 1), ThrowsMessage<Error>(HasSubstr("commit the file")));
}

TEST_F(Git, AShallowCloneSaysThatItsHistoryEnds) {
  const std::filesystem::path clone = shallow();
  EXPECT_THAT([&] { last_change(clone / "rows.csv", 2); },
              ThrowsMessage<Error>(HasSubstr("git fetch --unshallow")));
}

TEST_F(Git, ACommitIsExportedAndTheRepositoryLeftAlone) {
  const std::filesystem::path folder = repository_.beside() / "export";
  std::filesystem::create_directories(folder);
  export_commit(repository_.tree(), second_, folder);
  EXPECT_EQ(read_file(folder / "kernel"), "old");
  EXPECT_EQ(read_file(folder / "rows.csv"), "header\nfirst,1\nsecond,2\n");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 2);
  EXPECT_EQ(repository_.in_tree("git status --porcelain; git worktree list | wc -l"), "1\n");
}

} // namespace
} // namespace kg::ab
