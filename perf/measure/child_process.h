// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Running another program and waiting for it.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace kg::perf {

struct Finished {
  int exit_code = 0;    // 128 + signal where one ended it
  int signal = 0;       // 0: it ended by itself
  bool stalled = false; // it was killed because it stood still (Watch)
  std::string output;   // what it wrote to standard output, if that was captured
};

// "by signal 11 (SIGSEGV)" or "with exit code 3".
std::string ending(const Finished& finished);

// Where the program's standard output goes. `capture` also discards its standard error; `to_stderr`
// leaves a caller's own output clean.
enum class Output { capture, to_stderr };

// command[0] is looked up in PATH unless it holds a '/'. Throws Error when it cannot be started.
Finished run_process(const std::vector<std::string>& command, Output output);

// The same with each line that it writes, to either output, handed over while it runs.
Finished run_lines(const std::vector<std::string>& command,
                   const std::function<void(const std::string&)>& line);

// Starts a program with the caller's own input and outputs; the caller ends it and waits for it.
// Throws as run_process.
pid_t start_process(const std::vector<std::string>& command);

// The same with the output to standard error. The program inherits the open file `kept`, which
// others do not.
pid_t start_process(const std::vector<std::string>& command, int kept);

// Waits until a process that was started so has ended.
Finished wait_process(pid_t process);

// A process stands still when `file`, which it writes, has not grown for `limit`.
struct Watch {
  std::filesystem::path file;
  std::chrono::duration<double> limit;
  std::function<void()> grown = {}; // called soon after it has; may be empty
};

// The same with the output to standard error, and killed (SIGKILL) when it stands still.
Finished run_watched(const std::vector<std::string>& command, const Watch& watch);

// Lets the calling process be killed when the thread that started it ends, so that nobody measures
// on, holding the device, for a parent that was killed.
void end_with_parent();

// The program that is running.
std::filesystem::path this_executable();

} // namespace kg::perf
