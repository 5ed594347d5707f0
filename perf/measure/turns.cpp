// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/turns.h"

#include "runtime/error.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <deque>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace kg::perf {
namespace {

constexpr char kNextRow = 'r';
constexpr char kGranted = 'g';
constexpr char kEnded = '\0'; // the other end has closed

void send_byte(int socket, char byte) {
  while (send(socket, &byte, 1, MSG_NOSIGNAL) < 0)
    if (errno != EINTR) return; // closed: the next receive reports it
}

char receive_byte(int socket) {
  char byte = kEnded;
  while (recv(socket, &byte, 1, 0) < 0)
    if (errno != EINTR) return kEnded;
  return byte;
}

// The assigning side's view of a command that takes turns.
class Participant {
 public:
  explicit Participant(const std::vector<std::string>& command) {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
      fail("socketpair failed: " + system_error_text(errno));
    socket_ = ends[0];
    try {
      std::vector<std::string> words = {"env", fmt::format("{}={}", kTurnVariable, ends[1])};
      words.insert(words.end(), command.begin(), command.end());
      process_ = start_process(words, ends[1]);
    } catch (...) {
      close(ends[1]);
      close(socket_);
      throw;
    }
    close(ends[1]);
    listen();
  }
  // Closing the socket ends a process that waits for a turn with an error.
  ~Participant() {
    if (socket_ < 0) return;
    close(socket_);
    if (process_ > 0) wait_process(process_);
  }
  Participant(Participant&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), process_(other.process_), said_(other.said_),
        finished_(std::move(other.finished_)) {}
  Participant& operator=(Participant&&) = delete;

  bool ended() const { return said_ == kEnded; }
  bool at_next_row() const { return said_ == kNextRow; }
  const Finished& finished() const { return finished_; }

  // Returns when the process gives up its turn or ends.
  void have_turn() {
    send_byte(socket_, kGranted);
    listen();
  }

 private:
  void listen() {
    said_ = receive_byte(socket_);
    if (said_ == kEnded) finished_ = wait_process(std::exchange(process_, 0));
  }

  int socket_ = -1;
  pid_t process_ = 0;
  char said_ = kEnded;
  Finished finished_;
};

// Turns within one row, round by round, until all wait for the next row or have ended.
void measure_a_row(std::deque<Participant>& all) {
  std::vector<Participant*> round;
  for (Participant& one : all)
    if (!one.ended()) round.push_back(&one);
  while (!round.empty()) {
    for (Participant* one : round) one->have_turn();
    std::erase_if(round, [](const Participant* one) { return one->ended() || one->at_next_row(); });
    std::reverse(round.begin(), round.end());
  }
}

} // namespace

Turn::Turn(const std::string& socket) : socket_(-1) {
  const char* end = socket.data() + socket.size();
  const auto read = std::from_chars(socket.data(), end, socket_);
  require(read.ec == std::errc() && read.ptr == end && fcntl(socket_, F_GETFD) != -1,
          fmt::format("{}={}: it is set for an interleaved process, to the number of an open "
                      "file; unset it",
                      kTurnVariable, socket));
}

void Turn::give_up(char why) {
  constexpr int kWaitingMs = 200;
  send_byte(socket_, why);
  pollfd turn{socket_, POLLIN, 0};
  while (poll(&turn, 1, kWaitingMs) <= 0)
    if (waiting) waiting();
  require(receive_byte(socket_) == kGranted, "the process that gives turns has ended");
}

std::unique_ptr<Turn> turn_here() {
  const char* socket = std::getenv(kTurnVariable);
  return socket ? std::make_unique<Turn>(socket) : nullptr;
}

std::vector<Finished> run_interleaved(const std::vector<std::vector<std::string>>& commands,
                                      const std::function<std::shared_ptr<void>()>& exclusive) {
  std::deque<Participant> all;
  for (const std::vector<std::string>& command : commands) all.emplace_back(command);
  const auto runs = [](const Participant& one) { return !one.ended(); };
  if (std::any_of(all.begin(), all.end(), runs)) {
    const std::shared_ptr<void> held = exclusive ? exclusive() : nullptr;
    while (std::any_of(all.begin(), all.end(), runs)) measure_a_row(all);
  }
  std::vector<Finished> finished;
  for (const Participant& one : all) finished.push_back(one.finished());
  return finished;
}

} // namespace kg::perf
