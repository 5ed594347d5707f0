// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the checkers say of one launch, for the tests of the checkers.
#pragma once

#include "runtime/buffer.h"
#include "runtime/launch.h"
#include "runtime/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace kg::test {

// The text of the Error that the launch throws; "" if it throws none.
template <class... Parameters, class... Arguments>
std::string finding(void (*kernel)(Parameters...), const LaunchConfig& config,
                    Arguments&&... arguments) {
  try {
    launch(kernel, config, std::forward<Arguments>(arguments)...);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// The same kernel is right or wrong in every order of threads.
class Checkers : public testing::TestWithParam<Schedule> {
 protected:
  template <class T>
  DeviceBuffer<T> filled(std::size_t size, T value = {}) {
    return DeviceBuffer<T>::from_host(std::vector<T>(size, value), stream_);
  }

  Stream stream_;

 private:
  ScopedSchedule scope_{GetParam()};
};

inline const auto kOrders = testing::Values(
    Schedule{.order = ThreadOrder::forward}, Schedule{.order = ThreadOrder::reverse},
    Schedule{.order = ThreadOrder::random, .seed = 1},
    Schedule{.order = ThreadOrder::random, .seed = 20260117});

inline std::string order_name(const testing::TestParamInfo<Schedule>& info) {
  std::string name = to_string(info.param);
  for (char& c : name)
    if (c == ':') c = '_';
  return name;
}

using testing::AllOf;
using testing::AnyOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

} // namespace kg::test
