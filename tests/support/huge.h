// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Arrays of more than 2^31 elements, where 32-bit indices wrap: one value everywhere except at a
// few marks, so the host never holds the whole array. In the emulator arrays are sparse, and a
// window of each grid runs (runtime/host/sparse_memory.h and grid_window.h).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/backend.h"
#include "runtime/buffer.h"
#include "runtime/device.h"
#include "runtime/environment.h"
#include "runtime/host/grid_window.h"
#include "runtime/host/sparse_memory.h"
#include "runtime/host/virtual_device.h"
#include "tests/oracle/numbers.h"
#include "tests/support/unequal.h"

namespace kg::test {

// Index to value.
template <typename T>
using Marks = std::map<std::int64_t, T>;

// For a GPU, which runs whole grids.
struct WholeGrid {
  explicit WholeGrid(int /*sm_count*/) {}
  void show(std::int64_t /*index*/, std::int64_t /*count*/) {}
};
using Window = std::conditional_t<backend == Backend::host, host::GridWindow, WholeGrid>;
// A multiprocessor count so large that a grid has one block per tile.
inline constexpr int kBlockPerTile = 1 << 22;

// Why a test with this many bytes is skipped here; "" if it can run. KERNELGRADE_HUGE=0 skips all.
// windowed: the emulator runs a window of each grid.
inline std::string too_huge_reason(std::size_t bytes, bool windowed = false) {
  if (!is_set("KERNELGRADE_HUGE", true))
    return "KERNELGRADE_HUGE=0 leaves out arrays of more than 2^31 elements";
  if constexpr (backend == Backend::host) {
    if (!windowed) return "the emulator would take minutes for more than 2^31 elements";
    const int limit = device_properties().max_grid_yz;
    return limit >= host::kMaxGridYz ? ""
                                     : "the small virtual device has grids of at most " +
                                           std::to_string(limit) + " blocks along y and z";
  }
  if (device_properties().emulated)
    return "an emulated GPU would take minutes for more than 2^31 elements";
  const std::size_t free = device_free_bytes();
  if (free / 16 * 15 < bytes)
    return "needs " + std::to_string(bytes >> 20) + " MiB of device memory, " +
           std::to_string(free >> 20) + " are free";
  return "";
}

// Calls each(index, values) for each run of adjacent marks: on a GPU, copying one mark takes as
// long as copying many.
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

// Makes the window cover an array's marks and where elements and bytes reach 2^31 and 2^32.
template <typename T>
void show(const Marks<T>& marks, const DeviceBuffer<T>& array) {
  if constexpr (backend == Backend::host) {
    host::GridWindow* const window = host::grid_window();
    if (!window) return;
    const auto size = static_cast<std::int64_t>(array.size());
    for (const auto& [index, value] : marks) window->show(index, size);
    for (const std::int64_t boundary : {std::int64_t{1} << 31, std::int64_t{1} << 32})
      for (const std::int64_t index : {boundary, boundary / static_cast<std::int64_t>(sizeof(T))})
        if (index < size) window->show(index, size);
  }
}

template <typename T>
void put(const Marks<T>& marks, const DeviceBuffer<T>& array, Stream& stream) {
  show(marks, array);
  for_each_run(marks, [&](std::int64_t first, const std::vector<T>& run) {
    copy_to_device(array.data() + first, run.data(), run.size() * sizeof(T), stream);
  });
}

// Every element that a window of the grid wrote is `everywhere` or its mark. Elements that still
// have the bytes of the last fill count as not written.
template <typename T>
testing::AssertionResult written_holds(const DeviceBuffer<T>& array, T everywhere,
                                       const Marks<T>& marks) {
  const auto whole = std::as_bytes(std::span<const T>(array.data(), array.size()));
  const host::WrittenPages written = whole.size() < host::kSparseBytes
                                         ? host::WrittenPages{{whole}, kPoisonByte}
                                         : host::written_pages(whole.data(), whole.size());
  std::array<unsigned char, sizeof(T)> fill;
  fill.fill(written.fill);
  const auto unwritten = raw_bits(std::bit_cast<T>(fill)), expected = raw_bits(everywhere);
  for (const std::span<const std::byte> run : written.runs) {
    const auto* const values = reinterpret_cast<const T*>(run.data());
    for (std::size_t i = 0; i < run.size() / sizeof(T); ++i) {
      const auto bits = raw_bits(values[i]);
      if (bits == expected || bits == unwritten) continue;
      const std::int64_t index = values + i - array.data();
      if (!marks.contains(index))
        return testing::AssertionFailure()
               << "element " << index << " of " << array.size() << " is " << to_double(values[i])
               << ", expected " << to_double(everywhere);
    }
  }
  return testing::AssertionSuccess();
}

// Each element is `everywhere` or its mark, bit for bit; with a window, each written element. The
// device compares: the host only reads the marks and, after a mismatch, the `chunk` elements around
// the first wrong one.
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
  if constexpr (backend == Backend::host)
    if (host::grid_window()) return written_holds(array, everywhere, marks);
  // All marks are correct, so a range is correct if no more elements than its marks differ.
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

// Skips the test if it cannot run with this many bytes. Otherwise the emulator runs a window of
// each grid, which contains all marks that are put, until the end of the scope.
#define KG_HUGE(bytes)                                                                             \
  if (const std::string reason = ::kg::test::too_huge_reason(bytes, true); !reason.empty())        \
    GTEST_SKIP() << reason;                                                                        \
  [[maybe_unused]] ::kg::test::Window window(::kg::test::kBlockPerTile)

// Skips the test if it cannot run with this many bytes.
#define KG_SKIP_IF_TOO_HUGE(bytes)                                                                 \
  if (const std::string reason = ::kg::test::too_huge_reason(bytes); !reason.empty())              \
  GTEST_SKIP() << reason
