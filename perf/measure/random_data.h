// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Inputs and outputs of timed cases. Random, because a GPU draws less power, and so runs faster, on
// zeros; full-size oracles would take minutes, so large results are looked at through windows.
#pragma once

#include "runtime/buffer.h"
#include "tests/contract/call.h"
#include "tests/oracle/device_numbers.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/random.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace kg::perf {

// All of `to` made of these bytes again and again.
void store_repeatedly(DeviceBuffer<std::byte>& to, std::span<const std::byte> period,
                      Stream& stream);

// Standard normals (i32: integers up to 1000, i8: uniform), on the device and by index. Beyond
// kPeriod they repeat.
class RandomTensor {
 public:
  static constexpr std::int64_t kPeriod = card::kUsualPeriod;

  RandomTensor(Dtype dtype, std::int64_t size, test::Tensor tensor, Stream& stream);

  void* data() const { return device_.data(); }
  double at(std::int64_t i) const { return (*period_)[static_cast<std::size_t>(i % kPeriod)]; }

  // Elements [first, first + count).
  std::vector<double> values(std::int64_t first, std::int64_t count) const;

 private:
  std::shared_ptr<const std::vector<double>> period_; // its first elements, where it is shorter
  DeviceBuffer<std::byte> device_;
};

// The same with the type of its elements.
template <class T>
class RandomData {
 public:
  static constexpr std::int64_t kPeriod = RandomTensor::kPeriod;

  RandomData(std::int64_t size, test::Tensor tensor, Stream& stream)
      : tensor_(test::DtypeOf<T>::value, size, tensor, stream) {}

  T* data() const { return static_cast<T*>(tensor_.data()); }
  T at(std::int64_t i) const {
    return test::from_raw_bits<T>(test::encode(test::DtypeOf<T>::value, tensor_.at(i)));
  }
  std::vector<double> values(std::int64_t first, std::int64_t count) const {
    return tensor_.values(first, count);
  }

 private:
  RandomTensor tensor_;
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
