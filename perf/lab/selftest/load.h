// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Other processes that keep the device busy, as neighbours on a shared machine do.
#pragma once

#include <cstddef>
#include <string>
#include <sys/types.h>
#include <vector>

namespace kg::selftest {

// `command` in that many processes of their own, which are ended at the end of the scope.
class BackgroundLoad {
 public:
  // Throws kg::Error where a process cannot be started.
  BackgroundLoad(const std::vector<std::string>& command, std::size_t processes);
  ~BackgroundLoad();
  BackgroundLoad(const BackgroundLoad&) = delete;
  BackgroundLoad& operator=(const BackgroundLoad&) = delete;

 private:
  BackgroundLoad() = default;

  std::vector<pid_t> processes_;
};

// What such a process does: streams memory and computes on the device, in turn, until the process
// that started it is gone.
void keep_busy();

} // namespace kg::selftest
