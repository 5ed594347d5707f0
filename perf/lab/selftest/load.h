// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Other processes that keep the device busy, like neighbours on a shared machine.
#pragma once

#include <cstddef>
#include <string>
#include <sys/types.h>
#include <vector>

namespace kg::selftest {

// Runs `command` in this many processes, which are killed at the end of the scope.
class BackgroundLoad {
 public:
  // Throws kg::Error if a process cannot be started.
  BackgroundLoad(const std::vector<std::string>& command, std::size_t processes);
  ~BackgroundLoad();
  BackgroundLoad(const BackgroundLoad&) = delete;
  BackgroundLoad& operator=(const BackgroundLoad&) = delete;

 private:
  BackgroundLoad() = default;

  std::vector<pid_t> processes_;
};

// The work of such a process: alternates between streaming memory and computing on the device until
// its parent is gone.
void keep_busy();

} // namespace kg::selftest
