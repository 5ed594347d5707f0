// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A study that is cut anywhere goes on and ends as if it had not been.
#include "perf/lab/study/engine.h"

#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "runtime/temporary_folder.h"
#include "tests/unit/perf/lab/study/study_records.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::study {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

class Engine : public testing::Test {
 protected:
  // Measures nothing and remembers what it was asked for.
  Measure measure() {
    return [this](const Planned& planned) {
      asked.push_back(planned);
      return test::experiment(planned);
    };
  }

  std::filesystem::path unbroken() {
    RecordFile file = RecordFile::begin(folder.path() / "whole", header);
    conduct(file, measure());
    return file.path();
  }

  // A file that holds the first bytes of another.
  std::filesystem::path cut(const std::string& contents, std::size_t bytes) const {
    const std::filesystem::path path = folder.path() / "cut.jsonl";
    write_file(path, contents.substr(0, bytes));
    return path;
  }

  TemporaryFolder folder;
  Header header = test::header();
  std::vector<Planned> asked;
};

TEST_F(Engine, MeasuresThePlanInItsOrder) {
  const Record record = load_record(unbroken());
  EXPECT_EQ(asked, header.plan);
  EXPECT_EQ(record.header, header);
  ASSERT_TRUE(record.finished());
  for (std::size_t i = 0; i < record.done.size(); ++i)
    EXPECT_EQ(record.done[i], test::experiment(header.plan[i]));
}

TEST_F(Engine, GoesOnFromEveryCut) {
  const std::string whole = read_file(unbroken()).value();
  const std::size_t first_line = whole.find('\n') + 1;
  // Near the lines' ends, and within them here and there: each cut costs several flushes.
  const auto matters = [&](std::size_t bytes) {
    return bytes % 31 == 0 || bytes + 1 >= whole.size() || whole[bytes - 1] == '\n' ||
           whole[bytes] == '\n' || whole[bytes - 2] == '\n';
  };
  for (std::size_t bytes = first_line; bytes <= whole.size(); ++bytes) {
    if (!matters(bytes)) continue;
    const std::filesystem::path path = cut(whole, bytes);
    const auto lines = std::count(whole.begin(), whole.begin() + static_cast<long>(bytes), '\n');
    asked.clear();
    {
      RecordFile file = RecordFile::resume(path);
      conduct(file, measure());
    }
    ASSERT_EQ(read_file(path).value(), whole) << "cut after " << bytes << " bytes";
    ASSERT_EQ(asked, std::vector<Planned>(header.plan.begin() + (lines - 1), header.plan.end()))
        << "cut after " << bytes << " bytes: only what was lost is measured again";
  }
  for (const std::size_t bytes : {std::size_t{0}, first_line / 2, first_line - 1})
    EXPECT_THAT([&] { RecordFile::resume(cut(whole, bytes)); },
                ThrowsMessage<Error>(HasSubstr("no whole line")));
}

TEST_F(Engine, EachExperimentIsInTheFileBeforeTheNextBegins) {
  RecordFile file = RecordFile::begin(folder.path(), header);
  std::size_t done = 0;
  conduct(file, [&](const Planned& planned) {
    EXPECT_EQ(load_record(file.path()).done.size(), done++);
    return test::experiment(planned);
  });
  EXPECT_EQ(done, header.plan.size());
}

TEST_F(Engine, AnExceptionLeavesWhatIsDone) {
  RecordFile file = RecordFile::begin(folder.path(), header);
  const auto fails = [&](const Planned& planned) {
    if (file.record().done.size() == 2) throw Error("no disk");
    return test::experiment(planned);
  };
  EXPECT_THROW(conduct(file, fails), Error);
  EXPECT_EQ(load_record(file.path()).done.size(), 2u);
  EXPECT_THAT([&] { RecordFile::resume(file.path()); },
              ThrowsMessage<Error>(HasSubstr("another process")))
      << "it is still being written";
}

TEST_F(Engine, DamagedLinesAreNamed) {
  const std::filesystem::path path = unbroken();
  const std::string whole = read_file(path).value();
  const auto damaged = [&](const std::string& piece, const std::string& other) {
    std::string text = whole;
    const std::size_t at = text.find(piece, text.find('\n'));
    EXPECT_NE(at, text.npos) << piece;
    text.replace(at, piece.size(), other);
    return cut(text, text.size());
  };
  EXPECT_THAT([&] { load_record(damaged("\"run\"", "\"ran\"")); },
              ThrowsMessage<Error>(AllOf(HasSubstr("cut.jsonl:2"), HasSubstr("run"))));
  EXPECT_THAT([&] { load_record(damaged("{\"run\"", "\"run\"")); },
              ThrowsMessage<Error>(HasSubstr("not JSON")));
  EXPECT_THAT([&] { load_record(damaged("\"tiled\"", "\"naive\"")); },
              ThrowsMessage<Error>(AllOf(HasSubstr("cut.jsonl:3"), HasSubstr("twice"))));
  EXPECT_THAT([&] { load_record(damaged("\"tiled\"", "\"other\"")); },
              ThrowsMessage<Error>(HasSubstr("not in the study's plan")));
  EXPECT_THAT([&] { load_record(damaged("\"device\":\"host\"", "\"device\":\"gpu\"")); },
              ThrowsMessage<Error>(AllOf(HasSubstr("measured on gpu"), HasSubstr("of host"))));
  std::string other = whole;
  other.replace(other.find(":1"), 2, ":9");
  EXPECT_THAT([&] { load_record(cut(other, other.size())); },
              ThrowsMessage<Error>(HasSubstr("version")));
}

TEST_F(Engine, AnotherStudyDeviceOrProgramIsRefused) {
  const auto refused = [&](const Header& now, const std::string& why) {
    EXPECT_THAT([&] { require_same_study(header, now, "a.jsonl"); },
                ThrowsMessage<Error>(AllOf(HasSubstr("a.jsonl"), HasSubstr(why))));
  };
  require_same_study(header, header, "a.jsonl");
  Header now = header;
  now.study = "relu";
  refused(now, "it is the study matmul, not relu");
  now = header;
  now.settings["max-size"] = "64";
  refused(now, "--max-size is 32 there and 64 here");
  now = header;
  now.environment["device"] = "nvidia-h200";
  refused(now, "device is host there and nvidia-h200 here");
  now = header;
  now.program = "4567";
  now.environment["source"] = "def";
  refused(now, "another build (source abc, program 0123) than this one (source def, program 4567)");
  now = header;
  now.plan.pop_back();
  refused(now, "it plans other experiments");
  now = header;
  now.date_utc = "2027-01-01T00:00:00Z";
  require_same_study(header, now, "a.jsonl");
}

TEST_F(Engine, TheNewestUnfinishedOfTheSameSettingsIsFound) {
  EXPECT_FALSE(newest_unfinished(folder.path() / "none", header));
  const auto begin = [&](const std::string& date, const std::string& size) {
    Header other = header;
    other.date_utc = date;
    other.settings["max-size"] = size;
    return RecordFile::begin(folder.path(), other).path();
  };
  unbroken();
  begin("2026-01-01T00:00:00Z", "32");
  const auto newer = begin("2026-01-03T00:00:00Z", "32");
  begin("2026-01-04T00:00:00Z", "64");
  begin("2026-01-02T00:00:00Z", "32");
  std::ofstream(folder.path() / "other-1.jsonl") << "something else\n";
  EXPECT_EQ(newest_unfinished(folder.path(), header).value().string(), newer.string());
  {
    RecordFile file = RecordFile::resume(newer);
    conduct(file, measure());
  }
  EXPECT_EQ(newest_unfinished(folder.path(), header).value().filename().string(),
            "matmul-20260102T000000Z.jsonl");
}

TEST_F(Engine, FilesOfOneSecondHaveTheirOwnNames) {
  const auto first = RecordFile::begin(folder.path(), header).path();
  EXPECT_EQ(first.filename().string(), "matmul-20260102T030405Z.jsonl");
  EXPECT_EQ(RecordFile::begin(folder.path(), header).path().filename().string(),
            "matmul-20260102T030405Z-2.jsonl");
  EXPECT_TRUE(is_record(first));
  EXPECT_FALSE(is_record(folder.path() / "none"));
}

} // namespace
} // namespace kg::study
