// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared by the operations' typed tests: type lists, instance names of typed suites, and the thread
// orders to run kernels in. Without fmt, like all headers that .cu tests include: nvcc 13 cannot
// compile fmt 9 in C++20.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/backend.h"
#include "runtime/schedule.h"
#include "tests/oracle/device_numbers.h"
#include "tests/oracle/random.h"

namespace kg::test {

using FloatTypes = testing::Types<float, f16, bf16>;

// TYPED_TEST_SUITE(Softmax, FloatTypes, DtypeNames) creates tests named Softmax/f32.*, which
// --dtype selects.
struct DtypeNames {
  template <typename T>
  static std::string GetName(int) {
    return std::string(name(DtypeOf<T>::value));
  }
};

// On the host forward, reverse and random; a GPU has its own order.
inline std::vector<Schedule> thread_orders() {
  if (backend == Backend::cuda) return {Schedule{}};
  return {{.order = ThreadOrder::forward},
          {.order = ThreadOrder::reverse},
          {.order = ThreadOrder::random, .seed = seed()}};
}

} // namespace kg::test
