// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/launch_timer.h"

#include <chrono>

namespace kg::host {

double LaunchTimer::now_ns() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void LaunchTimer::Around::finish() noexcept {
  launch_.duration_ns = now_ns() - launch_.start_ns;
  timer_->launches_.push_back(launch_);
}

} // namespace kg::host
