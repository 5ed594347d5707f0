// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Arrays of more than 2^31 elements, where an index of 32 bits wraps: one value everywhere, others
// at a few marks, so that the host never holds the whole.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/backend.h"
#include "runtime/buffer.h"
#include "runtime/device.h"
#include "tests/support/numbers.h"

namespace kg::test {

// Index to value.
template <typename T>
using Marks = std::map<std::int64_t, T>;

// Why a test on so many bytes is skipped here; "" where it can run.
inline std::string too_huge_reason(std::size_t bytes) {
  if (backend == Backend::host)
    return "the host executor would take minutes for more than 2^31 elements";
  const std::size_t free = device_free_bytes();
  if (free / 16 * 15 < bytes)
    return "needs " + std::to_string(bytes >> 20) + " MiB of device memory, " +
           std::to_string(free >> 20) + " are free";
  return "";
}

template <typename T>
void put(const Marks<T>& marks, const DeviceBuffer<T>& array, Stream& stream) {
  for (const auto& [index, value] : marks)
    copy_to_device(array.data() + index, &value, sizeof(T), stream);
}

// Each element is `everywhere` or its mark, bit for bit; read back in chunks.
template <typename T>
testing::AssertionResult holds(const DeviceBuffer<T>& array, T everywhere, const Marks<T>& marks,
                               Stream& stream, std::size_t chunk = std::size_t{1} << 24) {
  std::vector<T> part;
  for (std::size_t start = 0; start < array.size(); start += chunk) {
    part.resize(std::min(chunk, array.size() - start));
    copy_to_host(part.data(), array.data() + start, part.size() * sizeof(T), stream);
    std::vector<T> expected(part.size(), everywhere);
    const auto from = static_cast<std::int64_t>(start);
    const auto end = marks.lower_bound(from + static_cast<std::int64_t>(part.size()));
    for (auto mark = marks.lower_bound(from); mark != end; ++mark)
      expected[static_cast<std::size_t>(mark->first - from)] = mark->second;
    for (std::size_t i = 0; i < part.size(); ++i)
      if (raw_bits(part[i]) != raw_bits(expected[i]))
        return testing::AssertionFailure()
               << "element " << start + i << " of " << array.size() << " is " << to_double(part[i])
               << ", expected " << to_double(expected[i]);
  }
  return testing::AssertionSuccess();
}

} // namespace kg::test
