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
#include "runtime/environment.h"
#include "tests/oracle/numbers.h"
#include "tests/support/unequal.h"

namespace kg::test {

// Index to value.
template <typename T>
using Marks = std::map<std::int64_t, T>;

// Why a test on so many bytes is skipped here; "" where it can run. KERNELGRADE_HUGE=0 skips all.
inline std::string too_huge_reason(std::size_t bytes) {
  if (!is_set("KERNELGRADE_HUGE", true))
    return "KERNELGRADE_HUGE=0 leaves out arrays of more than 2^31 elements";
  if (backend == Backend::host)
    return "the emulator would take minutes for more than 2^31 elements";
  if (device_properties().emulated)
    return "an emulated GPU would take minutes for more than 2^31 elements";
  const std::size_t free = device_free_bytes();
  if (free / 16 * 15 < bytes)
    return "needs " + std::to_string(bytes >> 20) + " MiB of device memory, " +
           std::to_string(free >> 20) + " are free";
  return "";
}

// `each`(index, values) of each run of marks side by side: a copy takes a GPU as long for one mark
// as for a row of them.
template <typename T, class Each>
void for_each_run(const Marks<T>& marks, Each each) {
  for (auto mark = marks.begin(); mark != marks.end();) {
    const std::int64_t first = mark->first;
    std::vector<T> run;
    for (; mark != marks.end() && mark->first == first + std::ssize(run); ++mark)
      run.push_back(mark->second);
    each(first, run);
  }
}

template <typename T>
void put(const Marks<T>& marks, const DeviceBuffer<T>& array, Stream& stream) {
  for_each_run(marks, [&](std::int64_t first, const std::vector<T>& run) {
    copy_to_device(array.data() + first, run.data(), run.size() * sizeof(T), stream);
  });
}

// Each element is `everywhere` or its mark, bit for bit. Compared on the device: the host reads the
// marks, and, where something is wrong, the `chunk` elements that hold the first that is.
template <typename T>
testing::AssertionResult holds(const DeviceBuffer<T>& array, T everywhere, const Marks<T>& marks,
                               Stream& stream, std::size_t chunk = std::size_t{1} << 16) {
  const auto size = static_cast<std::int64_t>(array.size());
  const auto read = [&](std::int64_t first, std::int64_t count) {
    std::vector<T> elements(static_cast<std::size_t>(count));
    copy_to_host(elements.data(), array.data() + first, elements.size() * sizeof(T), stream);
    return elements;
  };
  const auto wrong = [&](std::int64_t index, T found, T expected) {
    return testing::AssertionFailure() << "element " << index << " of " << size << " is "
                                       << to_double(found) << ", expected " << to_double(expected);
  };
  testing::AssertionResult marked = testing::AssertionSuccess();
  for_each_run(marks, [&](std::int64_t begin, const std::vector<T>& run) {
    const std::vector<T> found = read(begin, std::ssize(run));
    for (std::size_t i = 0; i < run.size() && marked; ++i)
      if (raw_bits(found[i]) != raw_bits(run[i]))
        marked = wrong(begin + static_cast<std::int64_t>(i), found[i], run[i]);
  });
  if (!marked) return marked;
  // All marks are right, so a part is right if no more elements than its marks differ.
  const auto is_right = [&](std::int64_t first, std::int64_t end) {
    const auto differing =
        std::count_if(marks.lower_bound(first), marks.lower_bound(end), [&](const auto& mark) {
          return raw_bits(mark.second) != raw_bits(everywhere);
        });
    return count_unequal(array.data() + first, end - first, sizeof(T), raw_bits(everywhere),
                         stream) == differing;
  };
  if (is_right(0, size)) return testing::AssertionSuccess();
  std::int64_t first = 0, end = size;
  while (end - first > static_cast<std::int64_t>(chunk)) {
    const std::int64_t middle = first + (end - first) / 2;
    (is_right(first, middle) ? first : end) = middle;
  }
  for (const T found : read(first, end - first)) {
    if (raw_bits(found) != raw_bits(everywhere) && !marks.contains(first))
      return wrong(first, found, everywhere);
    ++first;
  }
  return testing::AssertionFailure()
         << "the device counts a wrong element of " << size << " where the host finds none";
}

} // namespace kg::test

// Ends the test where it cannot run on so many bytes.
#define KG_SKIP_IF_TOO_HUGE(bytes)                                                                 \
  if (const std::string reason = ::kg::test::too_huge_reason(bytes); !reason.empty())              \
  GTEST_SKIP() << reason
