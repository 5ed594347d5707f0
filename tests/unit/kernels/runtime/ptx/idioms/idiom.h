// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of usual CUDA idioms share. Each writes a kernel as public CUDA code writes it,
// and compares it with a plain C++ loop: exactly, on integers or on floats that every order of
// operations adds without rounding, wherever the idiom allows it. The files compile under nvcc too.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "runtime/launch.h"
#include "tests/support/device_types.h"

namespace kg::idioms {

// Runs `body(stream)` under every thread order.
template <class Body>
void under_thread_orders(const Body& body) {
  for (const Schedule& schedule : test::thread_orders()) {
    SCOPED_TRACE(to_string(schedule));
    const ScopedSchedule scope(schedule);
    Stream stream;
    body(stream);
    if (testing::Test::HasFatalFailure()) return;
  }
}

template <class T>
DeviceBuffer<T> on_device(const std::vector<T>& values, Stream& stream) {
  return DeviceBuffer<T>::from_host(values, stream);
}

template <class T>
DeviceBuffer<T> zeros(std::size_t size, Stream& stream) {
  DeviceBuffer<T> buffer(size);
  fill_bytes(buffer.data(), 0, buffer.bytes(), stream);
  return buffer;
}

// The contents, when nothing was written beyond them.
template <class T>
std::vector<T> on_host(const DeviceBuffer<T>& buffer, Stream& stream) {
  std::vector<T> values = buffer.to_host(stream);
  buffer.check_guards();
  return values;
}

// Reproducible integers of [low, high] as T; `tensor` tells the inputs of one test apart.
template <class T>
std::vector<T> integers(std::size_t size, int low, int high, std::uint64_t tensor = 0) {
  const test::Random random(test::seed(), tensor);
  std::vector<T> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<T>(random.integer(i, low, high));
  return values;
}

// Standard normal floats.
inline std::vector<float> normals(std::size_t size, std::uint64_t tensor = 0) {
  const test::Random random(test::seed(), tensor);
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<float>(random.normal(i));
  return values;
}

// Rounded up.
__host__ __device__ constexpr unsigned blocks_for(unsigned n, unsigned per_block) {
  return (n + per_block - 1) / per_block;
}

} // namespace kg::idioms
