// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The order in which the host backend runs the threads of a block. A kernel whose result depends on
// it has a race; tests run all three orders. A GPU schedules for itself and ignores the setting.
#pragma once

#include <cstdint>
#include <string>

namespace kg {

enum class ThreadOrder { forward, reverse, random };

struct Schedule {
  ThreadOrder order = ThreadOrder::forward;
  std::uint64_t seed = 1; // for ThreadOrder::random
  int workers = 0;        // OS threads that run blocks; 0 = one per processor
};

// "forward", "reverse" or "random:<seed>".
std::string to_string(const Schedule& schedule);

// The schedule of this process's next launch. Initially from KERNELGRADE_THREAD_ORDER (forward,
// reverse, random:<seed>); any other text is an Error at the first launch.
Schedule schedule();
void set_schedule(const Schedule& schedule);

// Sets a schedule for a scope.
class ScopedSchedule {
 public:
  explicit ScopedSchedule(const Schedule& schedule) : before_(kg::schedule()) {
    set_schedule(schedule);
  }
  ~ScopedSchedule() { set_schedule(before_); }
  ScopedSchedule(const ScopedSchedule&) = delete;
  ScopedSchedule& operator=(const ScopedSchedule&) = delete;

 private:
  Schedule before_;
};

} // namespace kg
