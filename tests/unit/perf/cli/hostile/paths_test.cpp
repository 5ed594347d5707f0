// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Paths that are no files, files that are no results, and outputs that do not take what is written.
#include "perf/cli/console.h"
#include "runtime/atomic_file.h"
#include "tests/unit/perf/cli/hostile/output.h"
#include "tests/unit/perf/cli/world.h"

#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace kg::hostile {
namespace {

using cli::test::Cli;
using cli::test::Outcome;
using Call = std::vector<std::string>;

// Each word PATH is replaced.
Call with(Call call, const std::string& path) {
  for (std::string& word : call)
    if (word == "PATH") word = path;
  return call;
}

class Paths : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cli_({"run", "--in-process", "--json", file("measured.json")}).exit_code, 0);
    std::filesystem::create_directory(file("folder"));
    write_file(file("folder/file"), "kept");
    write_file(file("real"), "kept");
    std::filesystem::create_symlink(file("real"), file("link"));
    std::filesystem::create_symlink(file("nothing"), file("dangling"));
    std::filesystem::create_symlink("/dev/null", file("link to a device"));
    ASSERT_EQ(mkfifo(file("pipe").c_str(), 0600), 0);
    const int made = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    file("socket").copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ::close(made);
    // Not /dev/null itself: where the command is wrong, root would lose it.
    has_device_ = ::mknod(file("device").c_str(), S_IFCHR | 0666, makedev(1, 3)) == 0;
  }
  static dev_t makedev(unsigned major, unsigned minor) { return (major << 8) | minor; }

  std::string file(const std::string& name) const { return (cli_.folder.path() / name).string(); }

  // What lies there, to its kind and its target, and whatever new name there is.
  std::string listing() const {
    std::string text;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(cli_.folder.path())) {
      if (entry.path().filename() == "made") continue; // the workloads of the test's own operations
      struct stat there {};
      ::lstat(entry.path().c_str(), &there);
      text += entry.path().string() + " " + std::to_string(there.st_mode) + " " +
              std::to_string(there.st_ino) + " " + std::to_string(there.st_size) + "\n";
    }
    std::vector<std::string> lines; // a folder has no order
    for (std::size_t at = 0, end; (end = text.find('\n', at)) != text.npos; at = end + 1)
      lines.push_back(text.substr(at, end - at));
    std::sort(lines.begin(), lines.end());
    text.clear();
    for (const std::string& line : lines) text += line + "\n";
    return text;
  }

  std::vector<std::string> no_files() const {
    std::vector<std::string> names = {"folder",           "pipe",      "socket", "dangling",
                                      "link to a device", "real/below"};
    if (has_device_) names.emplace_back("device");
    return names;
  }

  Cli cli_;
  bool has_device_ = false;
};

TEST_F(Paths, ThatAreNoFilesAreNotWritten) {
  const std::vector<Call> writers = {
    {"run", "--in-process", "--op", "fill", "--json", "PATH"},
    {"gate", "--in-process", "--op", "fill", "--json", "PATH"},
    {"profile", "--op", "fill", "--json", "PATH"},
    {"merge", file("measured.json"), "--json", "PATH"},
    {"compare", file("measured.json"), file("measured.json"), "--json", "PATH"},
    {"choose", file("measured.json"), "--op", "copy", "--out", "PATH"},
    {"selftest", "--merge", file("measured.json"), "--out", "PATH"},
#if KERNELGRADE_HISTORY
    {"history", "import", file("measured.json"), "--db", "PATH"},
#endif
  };
  const std::string before = listing();
  std::vector<std::string> names = no_files();
  names.insert(names.end(), {"link", "new/"});
  std::size_t calls = 0;
  for (const Call& call : writers)
    for (const std::string& name : names) {
      SCOPED_TRACE(call.front() + " to " + name);
      const Outcome outcome = cli_(with(call, file(name)));
      EXPECT_TRUE(outcome.exit_code == 1 || outcome.exit_code == 2) << outcome.exit_code;
      EXPECT_NE(outcome.err.find(file(name)), std::string::npos) << outcome.err;
      EXPECT_EQ(fault_of_console(outcome.err), "");
      EXPECT_EQ(listing(), before) << "something was written or replaced";
      ++calls;
    }
  EXPECT_GE(calls, 60u);
  EXPECT_EQ(read_file(file("real")), "kept");
}

// A report is a folder: every other thing there is refused.
TEST_F(Paths, ThatAreNoFoldersTakeNoReport) {
  const std::string before = listing();
  for (const std::string name : {"real", "pipe", "socket", "link to a device", "real/below"}) {
    SCOPED_TRACE(name);
    const Outcome outcome = cli_({"report", file("measured.json"), "--out", file(name)});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find(file(name)), std::string::npos) << outcome.err;
    EXPECT_EQ(listing(), before);
  }
}

TEST_F(Paths, ThatAreNoFilesAreNotRead) {
  const std::vector<Call> readers = {
    {"report", "PATH", "--out", file("none")},
    {"compare", "PATH", file("measured.json")},
    {"compare", file("measured.json"), "PATH"},
    {"merge", "PATH", "--json", file("none")},
    {"gate", "--import", "PATH"},
    {"gate", "--import", file("measured.json"), "--baseline", "PATH"},
    {"gate", "--in-process", "--batch", "PATH"},
    {"choose", "PATH", "--out", file("none")},
    {"selftest", "--table", "PATH"},
    {"selftest", "--merge", "PATH", "--out", file("none")},
#if KERNELGRADE_HISTORY
    {"history", "import", "PATH", "--db", file("none")},
    {"history", "show", "--db", "PATH"},
    {"history", "plot", "--db", "PATH", "--out", file("none")},
#endif
  };
  const std::map<std::string, std::string> contents = {
      {"empty", ""},
      {"blanks", " \n"},
      {"noise", std::string("\x00\xff\x7f\x1b[31m\n", 9)},
      {"half of an object", "{\"schema\": 1, \"rows\": ["},
      {"half of a number", "-"},
      {"a number", "1"},
      {"a list", "[]"},
      {"an object", "{}"},
      {"null", "null"},
      {"rows that are not a list", R"({"schema": 1, "environment": {}, "rows": 3})"},
      {"no object among the rows", R"({"schema": 1, "environment": {}, "rows": [1, null, []]})"},
      {"one member twice", R"({"schema": 1, "schema": 1, "environment": {}, "rows": []})"},
      {"a schema to come", R"({"schema": 999999, "environment": {}, "rows": []})"},
      {"many brackets", std::string(100000, '[')},
      {"many braces",
       [] {
         std::string text;
         for (int i = 0; i < 20000; ++i) text += "{\"a\":";
         return text;
       }()},
      {"a page", "<!doctype html><html></html>"},
      {"another's CSV", "a,b,c\n1,2,3\n"},
      {"a quote without an end", "\"a,b\n"},
      {"a batch with an option that it does not take", "--json x\n"},
      {"a database", std::string("SQLite format 3\0", 16) + std::string(100, '\0')},
  };
  std::vector<std::string> names = no_files();
  names.emplace_back("missing");
  for (const auto& [what, text] : contents) {
    write_file(file(what), text);
    names.push_back(what);
  }
  const std::string before = listing();
  std::size_t calls = 0;
  for (const Call& call : readers)
    for (const std::string& name : names) {
      SCOPED_TRACE(call.front() + " of " + name);
      if (call[0] == "history" && call[1] != "import" && (name == "empty"))
        continue; // SQLite's new file
      const Outcome outcome = cli_(with(call, file(name)));
      EXPECT_TRUE(outcome.exit_code == 1 || outcome.exit_code == 2)
          << outcome.exit_code << outcome.out;
      EXPECT_NE(outcome.err, "");
      EXPECT_EQ(fault_of_console(outcome.err), "");
      std::filesystem::remove(file("none")); // a database without runs
      EXPECT_EQ(listing(), before) << "something was written";
      ++calls;
    }
  EXPECT_GE(calls, 300u);
}

TEST_F(Paths, ThatAreNoBaselines) {
  ASSERT_EQ(cli_({"bless", "--op", "fill"}).exit_code, 0);
  const std::string csv = cli_.csv("fill").string(), blessed = *read_file(csv);
  const Call gate = {"gate", "--in-process", "--op", "fill"};
  ASSERT_EQ(cli_(gate).exit_code, 0);
  const std::map<std::string, std::string> damages = {
      {"empty", ""},
      {"its header alone, cut", blessed.substr(0, 10)},
      {"half", blessed.substr(0, blessed.rfind(','))},
      {"twice", blessed + blessed},
      {"a row twice", blessed + blessed.substr(blessed.find('\n') + 1)},
      {"a byte order mark", "\xEF\xBB\xBF" + blessed},
      {"a NUL", blessed + '\0'},
      {"an empty line", blessed + "\n"},
      {"a field more", blessed.substr(0, blessed.size() - 1) + ",x\n"},
      {"an open quote", blessed + "\""},
      {"noise", std::string("\x00\xff\x7f\x1b[31m\n", 9)},
  };
  for (const auto& [what, text] : damages) {
    SCOPED_TRACE(what);
    write_file(csv, text);
    const Outcome outcome = cli_(gate);
    EXPECT_EQ(outcome.exit_code, 1) << outcome.out << outcome.err;
    EXPECT_EQ(fault_of_console(outcome.out + outcome.err), "");
    EXPECT_EQ(read_file(csv), text) << "a gate writes no baseline";
  }
  for (const std::string& name : no_files()) {
    if (name == "real/below") continue; // nothing that could be moved
    SCOPED_TRACE(name);
    std::filesystem::remove(csv);
    std::filesystem::rename(file(name), csv);
    const std::string before = listing();
    EXPECT_EQ(cli_(gate).exit_code, 1);
    EXPECT_EQ(cli_({"bless", "--op", "fill", "--in-process"}).exit_code, 1);
    EXPECT_EQ(listing(), before);
    std::filesystem::rename(csv, file(name));
  }
}

// Standard output that takes so many bytes and no more.
class Full : public std::streambuf {
 public:
  explicit Full(std::streamsize room) : room_(room) {}

 protected:
  int overflow(int c) override { return room_-- > 0 ? c : traits_type::eof(); }
  int sync() override { return room_ >= 0 ? 0 : -1; }

 private:
  std::streamsize room_;
};

TEST_F(Paths, StandardOutputThatIsFull) {
  const std::vector<Call> calls = {
      {"--help"},
      {"gate", "--help"},
      {"list"},
      {"run", "--in-process", "--op", "fill"},
      {"run", "--in-process", "--op", "fill", "--json", "-", "--quiet"},
      {"compare", file("measured.json"), file("measured.json")},
      {"compare", file("measured.json"), file("measured.json"), "--markdown"},
      {"merge", file("measured.json"), "--json", "-"},
      {"report", file("measured.json"), "--out", file("report")},
      {"list", "--ascii"}};
  for (const Call& call : calls)
    for (const std::streamsize room : {0, 1, 40}) {
      SCOPED_TRACE(call.front());
      Full full(room);
      const Outcome outcome = cli_(call, &full);
      EXPECT_EQ(outcome.exit_code, 1);
      EXPECT_NE(outcome.err.find("standard output"), std::string::npos) << outcome.err;
    }
}

TEST_F(Paths, StandardOutputForJson) {
  const Outcome run = cli_({"run", "--in-process", "--op", "fill", "--json", "-"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(nlohmann::json::parse(run.out).at("rows").size(), 1u);
  EXPECT_NE(run.err.find("fill.f32.n64"), std::string::npos) << "the table is for people";
  EXPECT_FALSE(std::filesystem::exists("-"));
  cli_.behaviour.crashes = "fill.f32.n64 plain";
  const Outcome none = cli_({"merge", file("missing"), "--json", "-"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_EQ(none.out, "");
}

} // namespace
} // namespace kg::hostile
