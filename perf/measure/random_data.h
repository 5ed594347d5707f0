// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Inputs and outputs of timed cases. Random, because a GPU draws less power, and so runs faster, on
// zeros; full-size oracles would take minutes, so large results are looked at through windows.
#pragma once

#include "runtime/buffer.h"
#include "tests/support/device_types.h"
#include "tests/support/fills.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace kg::perf {

// Standard normals (i32: integers up to 1000, i8: uniform), on the device and by index. Beyond
// kPeriod they repeat; it is prime, so that a kernel that is off by a tile or a row still reads
// other values.
template <class T>
class RandomData {
 public:
  static constexpr std::int64_t kPeriod = 1'000'003;

  RandomData(std::int64_t size, test::Tensor tensor, Stream& stream)
      : period_(period(std::min(size, kPeriod), tensor)), device_(static_cast<std::size_t>(size)) {
    const std::int64_t made = std::min(size, kPeriod);
    copy_to_device(device_.data(), period_->data(), static_cast<std::size_t>(made) * sizeof(T),
                   stream);
    // Each copy doubles what is there: gigabytes need not come from the host.
    for (std::int64_t done = made; done < size; done += std::min(done, size - done))
      copy_on_device(device_.data() + done, device_.data(),
                     static_cast<std::size_t>(std::min(done, size - done)) * sizeof(T), stream);
    stream.synchronize();
  }

  T* data() const { return device_.data(); }
  T at(std::int64_t i) const { return (*period_)[static_cast<std::size_t>(i % kPeriod)]; }

  // Elements [first, first + count) as doubles.
  std::vector<double> values(std::int64_t first, std::int64_t count) const {
    std::vector<double> result;
    for (std::int64_t i = first; i < first + count; ++i) result.push_back(test::to_double(at(i)));
    return result;
  }

 private:
  using Period = std::shared_ptr<const std::vector<T>>;

  // Kept for the process, since making a million normals takes as long as timing a row.
  static Period period(std::int64_t count, test::Tensor tensor) {
    static std::map<test::Tensor, Period> made;
    Period& longest = made[tensor];
    if (!longest || static_cast<std::int64_t>(longest->size()) < count)
      longest =
          std::make_shared<const std::vector<T>>(test::elements<T>(fill(count, tensor).values));
    return longest;
  }

  static test::Fill fill(std::int64_t count, test::Tensor tensor) {
    constexpr Dtype kDtype = test::DtypeOf<T>::value;
    if (kDtype == Dtype::i32) return test::integers(kDtype, count, 1000, tensor);
    return test::random_numbers(kDtype, count, tensor);
  }

  Period period_; // its first elements, where the array is shorter
  DeviceBuffer<T> device_;
};

struct Window {
  std::int64_t first;
  std::int64_t count;
};

// All of [0, size) where it is no more than `most`; else its two ends and random places between,
// `most` in all, each a multiple of `unit` (a row, say) long and starting at one.
inline std::vector<Window> windows(std::int64_t size, std::int64_t most, std::int64_t unit = 1) {
  if (size <= most) return {{0, size}};
  constexpr std::int64_t kWindows = 16;
  const std::int64_t units = size / unit;
  const std::int64_t count = std::max<std::int64_t>(most / kWindows / unit, 1);
  const test::Random random(test::seed(), 0x77);
  std::vector<Window> result = {{0, count * unit}, {(units - count) * unit, count * unit}};
  for (std::uint64_t i = 2; i < kWindows; ++i)
    result.push_back({random.integer(i, 0, units - count) * unit, count * unit});
  return result;
}

// Elements [first, first + count) of a device array, as tests see them.
template <class T>
test::Observed observe(const DeviceBuffer<T>& buffer, Window window, Stream& stream) {
  std::vector<T> elements(static_cast<std::size_t>(window.count));
  copy_to_host(elements.data(), buffer.data() + window.first, elements.size() * sizeof(T), stream);
  return test::observe(elements);
}

} // namespace kg::perf
