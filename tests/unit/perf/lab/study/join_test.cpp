// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The shards of a study are together the study, and without one of them nothing.
#include "perf/lab/study/join.h"

#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "runtime/temporary_folder.h"
#include "tests/unit/perf/lab/study/study_records.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::study {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;
using Files = std::vector<std::filesystem::path>;

class Join : public testing::Test {
 protected:
  static double time(const std::string& variant, double n) {
    return n * static_cast<double>(variant.size());
  }

  // Every `count`th case from the index-th on, in a file.
  Record part(std::size_t index, std::size_t count) const {
    Header header = whole.header;
    header.shard = judge::Shard{index, count, "hash"};
    header.date_utc = "2026-01-02T03:04:0" + std::to_string(9 - index) + "Z";
    std::erase_if(header.plan, [&](const Planned& planned) {
      const auto point =
          std::find_if(header.points.begin(), header.points.end(),
                       [&](const Point& each) { return each.case_id == planned.case_id; });
      return static_cast<std::size_t>(point - header.points.begin()) % count + 1 != index;
    });
    Record shard{header, {}};
    for (const Planned& planned : header.plan) shard.done.push_back(*whole.find(planned));
    return shard;
  }
  std::filesystem::path file(const std::string& name, const Record& record) const {
    const std::filesystem::path path = folder.path() / name;
    save_record(path, record);
    return path;
  }

  void expect_refused(const Files& files, const std::string& why) const {
    EXPECT_THAT([&] { join(files); }, ThrowsMessage<Error>(HasSubstr(why)));
  }

  TemporaryFolder folder;
  Record whole = test::record(test::header(5), time);
};

TEST_F(Join, TogetherTheyAreTheWhole) {
  for (const std::size_t count : {1U, 2U, 3U, 5U}) {
    Files files;
    for (std::size_t index = count; index >= 1; --index)
      files.push_back(file(std::to_string(index), part(index, count)));
    const Record joined = join(files);
    EXPECT_EQ(joined.header.plan, whole.header.plan) << count;
    EXPECT_EQ(joined.header.points, whole.header.points);
    EXPECT_EQ(joined.done, whole.done) << count;
    EXPECT_TRUE(joined.finished());
    EXPECT_FALSE(joined.header.shard) << "it is whole";
    EXPECT_EQ(joined.header.date_utc, part(count, count).header.date_utc) << "when the first began";
  }
}

TEST_F(Join, OneThatIsMissingIsNamed) {
  const auto first = file("1", part(1, 3)), third = file("3", part(3, 3));
  expect_refused({first, third}, "shard 2/3 is missing; given are 1/3 (" + first.string() + ")");
  expect_refused({first, third, third}, "shard 3/3 is there twice");
}

TEST_F(Join, OneThatWasCutIsNamed) {
  Record cut = part(2, 2);
  cut.done.pop_back();
  const auto second = file("2", cut);
  expect_refused({file("1", part(1, 2)), second},
                 second.string() + ": shard 2/2 has 5 of 6 experiments");
}

TEST_F(Join, OnlyOfOneStudyMachineAndProgram) {
  const auto first = file("1", part(1, 2));
  const auto refused = [&](const std::string& why, auto change) {
    Record other = part(2, 2);
    change(other.header);
    expect_refused({first, file("2", other)}, why);
  };
  refused("--dtype is f16 there", [](Header& header) { header.settings["dtype"] = "f16"; });
  refused("cpu is y there", [](Header& header) { header.environment["cpu"] = "y"; });
  refused("another build", [](Header& header) { header.program = "4567"; });
  refused("shard 2/2 is missing", [](Header& header) { header.shard->whole = "of others"; });
  refused("give the shards of one division", [](Header& header) { header.shard->count = 3; });
  refused("it plans other experiments", [](Header& header) { header.points[0].size = 17; });
  refused("was not divided", [](Header& header) { header.shard.reset(); });
}

TEST_F(Join, AShardIsNoStudy) {
  const auto path = file("1", part(1, 2));
  EXPECT_THAT([&] { load_undivided(path); },
              ThrowsMessage<Error>(AllOf(HasSubstr(path), HasSubstr("it is shard 1/2"))));
  EXPECT_EQ(load_undivided(file("whole", whole)).done, whole.done);
  EXPECT_EQ(load_record(path).header.shard, part(1, 2).header.shard);
}

TEST_F(Join, GoesOnWithItsOwnShardOnly) {
  EXPECT_THAT([&] { require_same_study(part(1, 2).header, part(2, 2).header, "a.jsonl"); },
              ThrowsMessage<Error>(HasSubstr("it is shard 1/2 there and shard 2/2 here")));
  RecordFile::begin(folder.path(), part(1, 2).header);
  EXPECT_FALSE(newest_unfinished(folder.path(), part(2, 2).header));
  EXPECT_TRUE(newest_unfinished(folder.path(), part(1, 2).header));
}

} // namespace
} // namespace kg::study
