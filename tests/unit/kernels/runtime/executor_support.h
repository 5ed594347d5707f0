// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the executor share: thread orders to run under, outputs, messages.
#pragma once

#include "runtime/buffer.h"
#include "runtime/cooperative_groups.h"
#include "runtime/launch.h"
#include "runtime/schedule.h"

#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace kg::executor {

// Runs `body` under every thread order: forward, reverse and random with several seeds.
inline void under_every_order(const std::function<void()>& body) {
  std::vector<Schedule> schedules = {{ThreadOrder::forward}, {ThreadOrder::reverse}};
  for (std::uint64_t seed : {1, 2, 3}) schedules.push_back({ThreadOrder::random, seed});
  for (const Schedule& schedule : schedules) {
    SCOPED_TRACE(to_string(schedule));
    const ScopedSchedule scope(schedule);
    body();
    if (testing::Test::HasFatalFailure()) return;
  }
}

// What `fill(pointer, stream)` leaves in a poisoned buffer of `size` elements, with its guards
// checked.
template <class T, class Fill>
std::vector<T> filled(std::size_t size, const Fill& fill) {
  Stream stream;
  DeviceBuffer<T> buffer(size);
  fill(buffer.data(), stream);
  stream.synchronize();
  buffer.check_guards();
  return buffer.to_host(stream);
}

// The message of the Error that `action` throws; empty when it throws none.
template <class Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

// "failure_test.cu:12", as messages name a place in the file `file`.
inline std::string place(const char* file, int line) {
  return std::string(file) + ":" + std::to_string(line);
}

} // namespace kg::executor
