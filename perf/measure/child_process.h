// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Starts other programs and waits for them.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace kg::perf {

struct Finished {
  int exit_code = 0;    // 128 + signal if a signal ended it
  int signal = 0;       // 0: none
  bool stalled = false; // it made no progress and was killed (Watch)
  std::string output;   // its standard output, if captured
};

// "by signal 11 (SIGSEGV)" or "with exit code 3".
std::string ending(const Finished& finished);

// The destination of the program's standard output. `capture` also discards its standard error.
// `to_stderr` keeps the caller's own output clean.
enum class Output { capture, to_stderr };

// Runs a program and waits for its end. command[0] is looked up in PATH unless it contains a '/'.
// Throws Error if the program cannot be started.
Finished run_process(const std::vector<std::string>& command, Output output);

// The same, but calls `line` with each line of both outputs while the program runs.
Finished run_lines(const std::vector<std::string>& command,
                   const std::function<void(const std::string&)>& line);

// Starts a program that shares the caller's input and outputs, and returns at once. The caller must
// wait for it. Throws Error if the program cannot be started.
pid_t start_process(const std::vector<std::string>& command);

// The same, with output to standard error. Only this program inherits the file descriptor `kept`.
pid_t start_process(const std::vector<std::string>& command, int kept);

// Waits for the end of a process that start_process() started.
Finished wait_process(pid_t process);

// A process has stalled if `file`, which it writes, has not grown for `limit`.
struct Watch {
  std::filesystem::path file;
  std::chrono::duration<double> limit;
  std::function<void()> grown = {}; // called soon after the file has grown; may be empty
};

// run_process() with output to standard error. Kills the process (SIGKILL) if it stalls.
Finished run_watched(const std::vector<std::string>& command, const Watch& watch);

// Has the calling process killed when the thread that started it ends. Otherwise it would continue
// to measure, and hold the device, after its parent was killed.
void end_with_parent();

// The path of the running program.
std::filesystem::path this_executable();

} // namespace kg::perf
