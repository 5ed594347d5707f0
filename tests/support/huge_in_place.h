// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// An operation on arrays of more than 2^31 elements, in place.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/device_types.h"
#include "tests/support/huge.h"

namespace kg::test {

// Runs `run` on an array whose n elements consist of `byte`s, except a few numbers at its ends and
// around the largest power of two within it. `result` maps an input number to its result.
template <class T, class Result, class Run>
void expect_in_place(std::string_view variant, std::int64_t n, unsigned char byte, Result result,
                     Run run, Stream& stream) {
  const auto half = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n - 1)));
  const auto value = [](double x) { return elements<T>(std::vector<double>{x})[0]; };
  const DeviceBuffer<T> x(static_cast<std::size_t>(n));
  fill_bytes(x.data(), byte, x.bytes(), stream);
  const T everywhere =
      from_raw_bits<T>(0x0101010101010101U * byte & poison_bits(DtypeOf<T>::value));
  Marks<T> before, after;
  double next = 3;
  for (const std::int64_t index : {std::int64_t{0}, half - 1, half, half + 1, n - 1}) {
    before[index] = value(next);
    after[index] = value(result(next));
    ++next;
  }
  put(before, x, stream);
  run(x.data());
  EXPECT_TRUE(holds(x, value(result(to_double(everywhere))), after, stream)) << variant;
  EXPECT_NO_THROW(x.check_guards());
}

} // namespace kg::test
