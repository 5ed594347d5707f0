// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/turns.h"

#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "tests/unit/perf/judge/folder.h"

#include <fmt/format.h>
#include <future>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace kg::perf {
namespace {

// Programs that take turns, and a log of what they did in them.
class Turns : public testing::Test {
 protected:
  // row: comes to its next row. pass: gives the turn up. say WORD: writes it to the log.
  std::vector<std::string> program(const std::string& does) const {
    return {
        "bash", "-c",
        fmt::format("ask() {{ printf $1 >&$KERNELGRADE_TURN; read -rn1 -u$KERNELGRADE_TURN; }}; "
                    "row() {{ ask r; }}; pass() {{ ask t; }}; say() {{ echo $1 >>{}; }}; {}",
                    log_.string(), does)};
  }
  std::vector<Finished> run(const std::vector<std::string>& programs) const {
    std::vector<std::vector<std::string>> commands;
    for (const std::string& does : programs) commands.push_back(program(does));
    return run_interleaved(commands, nullptr);
  }
  std::string log() const {
    std::string words = read_file(log_).value_or("");
    for (char& c : words)
      if (c == '\n') c = ' ';
    return words;
  }

  const judge::test::Folder folder_{};
  const std::filesystem::path log_ = folder_.path() / "log";
};

TEST_F(Turns, GoRoundForthAndBack) {
  const auto one = [](const std::string& name) {
    return fmt::format("row; say {0}1; pass; say {0}2; pass; say {0}3", name);
  };
  run({one("a"), one("b"), one("c")});
  EXPECT_EQ(log(), "a1 b1 c1 c2 b2 a2 a3 b3 c3 ");
}

TEST_F(Turns, NobodyBeginsARowBeforeAllHaveDoneTheLast) {
  run({"row; say a1; row; say a-next", "row; say b1; pass; say b2; pass; say b3; row; say b-next"});
  EXPECT_EQ(log(), "a1 b1 b2 b3 a-next b-next ");
}

TEST_F(Turns, AProcessThatEndsLeavesTheOthersTheirs) {
  const std::vector<Finished> finished = run(
      {"row; say a1; pass; say a2; row; say a-next", "row; say b1; pass; kill -SEGV $$", "exit 3"});
  EXPECT_EQ(log(), "a1 b1 a2 a-next ");
  ASSERT_EQ(finished.size(), 3u);
  EXPECT_EQ(finished[0].exit_code, 0);
  EXPECT_EQ(finished[1].signal, SIGSEGV);
  EXPECT_EQ(finished[2].exit_code, 3);
}

TEST_F(Turns, AProgramThatKnowsOfNoneRunsAlone) {
  run({"row; say a1; pass; say a2", "say old; sleep 0.1; say older", "row; say b1; pass; say b2"});
  EXPECT_EQ(log(), "old older a1 b1 b2 a2 ");
}

TEST_F(Turns, HoldTheDeviceFromTheFirstToTheLast) {
  const auto write = [&](const std::string& word) {
    write_file(log_, read_file(log_).value_or("") + word + "\n");
  };
  const auto exclusive = [&]() -> std::shared_ptr<void> {
    write("taken");
    return std::shared_ptr<void>(nullptr, [&](void*) { write("left"); });
  };
  run_interleaved({program("say old"), program("row; say a1"), program("row; say b1")}, exclusive);
  EXPECT_EQ(log(), "old taken a1 b1 left ");
  write_file(log_, "");
  run_interleaved({program("say old")}, exclusive);
  EXPECT_EQ(log(), "old ") << "it takes the device for itself";
}

TEST_F(Turns, AProcessInheritsItsOwnSocketAlone) {
  const std::string sockets = "say $(find /proc/$$/fd -lname 'socket:*' -name '[3-9]*' | wc -l)";
  run({"row; " + sockets, "row; " + sockets});
  EXPECT_EQ(log(), "1 1 ");
}

TEST_F(Turns, AProgramThatCannotBeStartedIsAnError) {
  EXPECT_EQ(run_interleaved({{"/no/such/program"}}, nullptr).at(0).exit_code, 127) << "env says so";
}

// Both ends of a socket, one of them a process's turn.
struct Ends {
  Ends() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, socket), 0); }
  ~Ends() {
    close(socket[0]);
    close(socket[1]);
  }
  char said() {
    char byte = 0;
    EXPECT_EQ(read(socket[0], &byte, 1), 1);
    return byte;
  }
  void grant() { EXPECT_EQ(write(socket[0], "g", 1), 1); }
  int socket[2] = {-1, -1};
};

TEST(Turn, SaysWhyItIsGivenUpAndWaits) {
  Ends ends;
  Turn turn(std::to_string(ends.socket[1]));
  for (const auto& [give_up, why] :
       {std::pair{&Turn::next_row, 'r'}, std::pair{&Turn::pass, 't'}}) {
    std::promise<void> waited;
    bool told = false;
    turn.waiting = [&] {
      if (!std::exchange(told, true)) waited.set_value();
    };
    const auto has_it = std::async(std::launch::async, [&, call = give_up] { (turn.*call)(); });
    EXPECT_EQ(ends.said(), why);
    waited.get_future().wait(); // it has not returned
    EXPECT_EQ(has_it.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
    ends.grant();
    has_it.wait();
  }
}

TEST(Turn, EndsWithTheProcessThatGivesTurns) {
  Ends ends;
  Turn turn(std::to_string(ends.socket[1]));
  shutdown(ends.socket[0], SHUT_RDWR);
  EXPECT_THROW(turn.pass(), Error);
}

TEST(Turn, NeedsAnOpenSocket) {
  EXPECT_THROW(Turn("4095"), Error);
  EXPECT_THROW(Turn("3x"), Error);
  EXPECT_THROW(Turn(""), Error);
}

} // namespace
} // namespace kg::perf
