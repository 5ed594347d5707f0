// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

namespace kg::host {

// The timing of one grid, in nanoseconds of the steady clock.
struct TimedLaunch {
  const void* kernel = nullptr; // named by detail::kernel_name
  double start_ns = 0;
  double duration_ns = 0;
};

// Times the grids that this thread runs during its lifetime, launched directly or by a graph.
// Timers nest; only the innermost records. Without a timer, a launch costs one pointer test.
class LaunchTimer {
 public:
  LaunchTimer() : outer_(std::exchange(innermost_, this)) {}
  ~LaunchTimer() { innermost_ = outer_; }
  LaunchTimer(const LaunchTimer&) = delete;
  LaunchTimer& operator=(const LaunchTimer&) = delete;

  const std::vector<TimedLaunch>& launches() const { return launches_; }

  // The executor wraps each grid in this scope. A failed grid is timed too.
  class Around {
   public:
    explicit Around(const void* kernel) : timer_(innermost_) {
      if (timer_) [[unlikely]]
        launch_ = {kernel, now_ns(), 0};
    }
    ~Around() {
      if (timer_) [[unlikely]]
        finish();
    }
    Around(const Around&) = delete;
    Around& operator=(const Around&) = delete;

   private:
    void finish() noexcept;

    LaunchTimer* timer_;
    TimedLaunch launch_;
  };

 private:
  static double now_ns();

  static inline constinit thread_local LaunchTimer* innermost_ = nullptr;
  std::vector<TimedLaunch> launches_;
  LaunchTimer* outer_;
};

} // namespace kg::host
