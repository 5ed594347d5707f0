// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/child_process.h"

#include "runtime/error.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern char** environ;

namespace kg::perf {
namespace {

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
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) fail("pipe2 failed: " + system_error_text(errno));
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
  // The available output; empty at the end.
  std::string read_some() {
    std::array<char, 4096> block;
    for (;;) {
      const ssize_t got = read(ends_[0], block.data(), block.size());
      if (got < 0 && errno == EINTR) continue;
      return {block.data(), static_cast<std::size_t>(got < 0 ? 0 : got)};
    }
  }
  std::string read_all() {
    std::string all;
    for (std::string some = read_some(); !some.empty(); some = read_some()) all += some;
    return all;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

// Empty while the child is still running, which only WNOHANG can return.
std::optional<Finished> wait_for(pid_t child, int options) {
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(child, &status, options);
    if (ended == child) break;
    if (ended == 0) return std::nullopt;
    if (errno != EINTR) fail("waitpid failed: " + system_error_text(errno));
  }
  constexpr int kSignalBase = 128; // as in shells
  Finished finished;
  if (WIFEXITED(status)) {
    finished.exit_code = WEXITSTATUS(status);
  } else {
    finished.signal = WTERMSIG(status);
    finished.exit_code = kSignalBase + finished.signal;
  }
  return finished;
}

pid_t start(const std::vector<std::string>& command, FileActions& actions) {
  require(!command.empty(), "the command of a process is empty; name a program");
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str())); // posix_spawn does not write to them
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (const int error =
          posix_spawnp(&child, arguments[0], actions.get(), nullptr, arguments.data(), environ))
    fail(fmt::format("cannot start '{}': {}", fmt::join(command, " "), system_error_text(error)));
  return child;
}

// 0 if the file does not exist.
std::uintmax_t size_of(const std::filesystem::path& file) {
  std::error_code missing;
  const std::uintmax_t size = std::filesystem::file_size(file, missing);
  return missing ? 0 : size;
}

// "SIGSEGV"; empty for signals that are not caused by a fault.
std::string_view signal_name(int signal) {
  switch (signal) {
  case SIGABRT: return "SIGABRT";
  case SIGBUS: return "SIGBUS";
  case SIGFPE: return "SIGFPE";
  case SIGILL: return "SIGILL";
  case SIGINT: return "SIGINT";
  case SIGKILL: return "SIGKILL";
  case SIGSEGV: return "SIGSEGV";
  case SIGTERM: return "SIGTERM";
  case SIGTRAP: return "SIGTRAP";
  }
  return "";
}

} // namespace

std::string ending(const Finished& finished) {
  if (finished.signal == 0) return fmt::format("with exit code {}", finished.exit_code);
  const std::string_view name = signal_name(finished.signal);
  return name.empty() ? fmt::format("by signal {}", finished.signal)
                      : fmt::format("by signal {} ({})", finished.signal, name);
}

Finished run_process(const std::vector<std::string>& command, Output output) {
  Pipe pipe;
  FileActions actions;
  if (output == Output::capture) {
    posix_spawn_file_actions_adddup2(actions.get(), pipe.writer(), STDOUT_FILENO);
    posix_spawn_file_actions_addopen(actions.get(), STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  } else {
    posix_spawn_file_actions_adddup2(actions.get(), STDERR_FILENO, STDOUT_FILENO);
  }
  const pid_t child = start(command, actions);
  pipe.close_writer();

  const std::string written = output == Output::capture ? pipe.read_all() : "";
  Finished finished = *wait_for(child, 0);
  finished.output = written;
  return finished;
}

Finished run_lines(const std::vector<std::string>& command,
                   const std::function<void(const std::string&)>& line) {
  Pipe pipe;
  FileActions actions;
  posix_spawn_file_actions_adddup2(actions.get(), pipe.writer(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(actions.get(), pipe.writer(), STDERR_FILENO);
  const pid_t child = start(command, actions);
  pipe.close_writer();
  std::string text;
  for (std::string some = pipe.read_some(); !some.empty(); some = pipe.read_some()) {
    text += some;
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != text.npos; begin = end + 1)
      line(text.substr(begin, end - begin));
    text.erase(0, begin);
  }
  if (!text.empty()) line(text);
  return *wait_for(child, 0);
}

pid_t start_process(const std::vector<std::string>& command) {
  FileActions unchanged;
  return start(command, unchanged);
}

pid_t start_process(const std::vector<std::string>& command, int kept) {
  FileActions actions;
  posix_spawn_file_actions_adddup2(actions.get(), STDERR_FILENO, STDOUT_FILENO);
  // Duplicating the descriptor onto itself clears its close-on-exec flag.
  posix_spawn_file_actions_adddup2(actions.get(), kept, kept);
  return start(command, actions);
}

Finished wait_process(pid_t process) { return *wait_for(process, 0); }

Finished run_watched(const std::vector<std::string>& command, const Watch& watch) {
  using std::chrono::steady_clock;
  // Waiting for a process with a timeout requires a newer kernel (pidfd_open) or a global signal
  // handler. Polling at this rate does not affect measurements.
  constexpr std::chrono::milliseconds kLook{10};
  FileActions actions;
  posix_spawn_file_actions_adddup2(actions.get(), STDERR_FILENO, STDOUT_FILENO);
  const pid_t child = start(command, actions);
  std::uintmax_t size = size_of(watch.file);
  steady_clock::time_point grown = steady_clock::now();
  for (;;) {
    if (const std::optional<Finished> finished = wait_for(child, WNOHANG)) return *finished;
    const steady_clock::time_point now = steady_clock::now();
    if (const std::uintmax_t found = size_of(watch.file); found != size) {
      size = found;
      grown = now;
      if (watch.grown) watch.grown();
    } else if (now - grown > watch.limit) {
      kill(child, SIGKILL);
      Finished finished = *wait_for(child, 0);
      finished.stalled = finished.signal == SIGKILL; // it may have ended by itself in between
      return finished;
    }
    std::this_thread::sleep_for(kLook);
  }
}

void end_with_parent() { prctl(PR_SET_PDEATHSIG, SIGKILL); }

std::filesystem::path this_executable() { return std::filesystem::read_symlink("/proc/self/exe"); }

} // namespace kg::perf
