// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/selftest/load.h"

#include "perf/measure/canary.h"
#include "perf/measure/child_process.h"
#include "runtime/stream.h"

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace kg::selftest {

// Delegates, so that the destructor ends the processes already started if another fails to start.
BackgroundLoad::BackgroundLoad(const std::vector<std::string>& command, std::size_t processes)
    : BackgroundLoad() {
  while (processes_.size() < processes) processes_.push_back(perf::start_process(command));
}

BackgroundLoad::~BackgroundLoad() {
  for (const pid_t process : processes_) kill(process, SIGTERM);
  for (const pid_t process : processes_) waitpid(process, nullptr, 0);
}

void keep_busy() {
  const pid_t parent = getppid();
  Stream stream;
  perf::Canary memory(Bound::memory, stream), compute(Bound::compute, stream);
  while (getppid() == parent) {
    memory.run(stream);
    compute.run(stream);
    stream.synchronize();
  }
}

} // namespace kg::selftest
