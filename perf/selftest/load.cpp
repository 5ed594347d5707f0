// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/selftest/load.h"

#include "perf/measure/canary.h"
#include "runtime/error.h"
#include "runtime/stream.h"

#include <csignal>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

extern char** environ;

namespace kg::selftest {

BackgroundLoad::BackgroundLoad(const std::vector<std::string>& command, std::size_t processes) {
  require(!command.empty(), "BackgroundLoad: command is empty; name a program");
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str())); // posix_spawn does not write to them
  arguments.push_back(nullptr);
  for (std::size_t i = 0; i < processes; ++i) {
    pid_t child = 0;
    if (const int error =
            posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ)) {
      end();
      fail(fmt::format("cannot start '{}': {}", fmt::join(command, " "),
                       std::generic_category().message(error)));
    }
    processes_.push_back(child);
  }
}

BackgroundLoad::~BackgroundLoad() { end(); }

void BackgroundLoad::end() {
  for (const pid_t process : processes_) kill(process, SIGTERM);
  for (const pid_t process : processes_) waitpid(process, nullptr, 0);
  processes_.clear();
}

void keep_busy() {
  const pid_t parent = getppid();
  Stream stream;
  perf::Canary memory(perf::Kind::memory, stream), compute(perf::Kind::compute, stream);
  while (getppid() == parent) {
    memory.run(stream);
    compute.run(stream);
    stream.synchronize();
  }
}

} // namespace kg::selftest
