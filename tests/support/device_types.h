// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the typed tests of the operations share: the lists of types, the names of a typed suite's
// instances, and the thread orders to run a kernel under. Without fmt, as
// are all headers that tests in .cu files see: nvcc 13 does not compile fmt 9 in C++20.
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

// TYPED_TEST_SUITE(Softmax, FloatTypes, DtypeNames) makes tests named Softmax/f32.*, so that
// --dtype finds them.
struct DtypeNames {
  template <typename T>
  static std::string GetName(int) {
    return std::string(name(DtypeOf<T>::value));
  }
};

// Forward, reverse and random on the host; a GPU has its own order.
inline std::vector<Schedule> thread_orders() {
  if (backend == Backend::cuda) return {Schedule{}};
  return {{.order = ThreadOrder::forward},
          {.order = ThreadOrder::reverse},
          {.order = ThreadOrder::random, .seed = seed()}};
}

} // namespace kg::test
