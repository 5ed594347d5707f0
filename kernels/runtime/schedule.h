// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// In which order the host backend runs the threads of a block. A kernel whose result depends on it
// has a race: tests run under all three. A GPU chooses for itself; there the setting has no effect.
#pragma once

#include <cstdint>
#include <string>

namespace kg {

enum class ThreadOrder { forward, reverse, random };

struct Schedule {
  ThreadOrder order = ThreadOrder::forward;
  std::uint64_t seed = 1; // of ThreadOrder::random
  int workers = 0;        // OS threads that run blocks; 0 = one per processor
};

// "forward", "reverse" or "random:<seed>".
std::string to_string(const Schedule& schedule);

// What the next launch of this process uses. The start value comes from KERNELGRADE_THREAD_ORDER
// (forward, reverse, random:<seed>); text that is none of these is an Error at the first launch.
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
