// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/child_process.h"

#include "runtime/error.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

extern char** environ;

namespace kg::perf {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) fail("pipe2 failed: " + reason(errno));
  }
  ~Pipe() {
    close(ends_[0]);
    close_writer();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int writer() const { return ends_[1]; }
  void close_writer() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }
  std::string read_all() {
    std::string all;
    std::array<char, 4096> block;
    for (;;) {
      const ssize_t got = read(ends_[0], block.data(), block.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return all;
      all.append(block.data(), static_cast<std::size_t>(got));
    }
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) fail("waitpid failed: " + reason(errno));
  constexpr int kSignalBase = 128; // as shells report it
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalBase + WTERMSIG(status);
}

} // namespace

Finished run_process(const std::vector<std::string>& command, Output output) {
  require(!command.empty(), "run_process: command is empty; name a program");
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str())); // posix_spawn does not write to them
  arguments.push_back(nullptr);

  Pipe pipe;
  FileActions actions;
  if (output == Output::capture) {
    posix_spawn_file_actions_adddup2(actions.get(), pipe.writer(), STDOUT_FILENO);
    posix_spawn_file_actions_addopen(actions.get(), STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  } else {
    posix_spawn_file_actions_adddup2(actions.get(), STDERR_FILENO, STDOUT_FILENO);
  }
  pid_t child = 0;
  if (const int error =
          posix_spawnp(&child, arguments[0], actions.get(), nullptr, arguments.data(), environ))
    fail(fmt::format("cannot start '{}': {}", fmt::join(command, " "), reason(error)));
  pipe.close_writer();

  Finished finished;
  if (output == Output::capture) finished.output = pipe.read_all();
  finished.exit_code = wait_for(child);
  return finished;
}

std::filesystem::path this_executable() { return std::filesystem::read_symlink("/proc/self/exe"); }

} // namespace kg::perf
