// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

namespace kg::host {

// One grid as it ran. Nanoseconds of the steady clock.
struct TimedLaunch {
  const void* kernel = nullptr; // detail::kernel_name says what it is called
  double start_ns = 0;
  double duration_ns = 0;
};

// Times the grids that this thread runs while it lives, launched directly or by a graph; timers
// nest, the innermost one sees. Where there is none a launch pays one test of a pointer.
class LaunchTimer {
 public:
  LaunchTimer() : outer_(std::exchange(innermost_, this)) {}
  ~LaunchTimer() { innermost_ = outer_; }
  LaunchTimer(const LaunchTimer&) = delete;
  LaunchTimer& operator=(const LaunchTimer&) = delete;

  const std::vector<TimedLaunch>& launches() const { return launches_; }

  // What the executor puts around a grid; one that failed is timed, too.
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
