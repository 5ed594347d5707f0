// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Inputs and outputs of timed cases. Inputs are random, because a GPU draws less power on zeros and
// then runs faster. Of large results only windows are verified, since a complete reference would
// take minutes.
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

// Fills `to` with repetitions of these bytes.
void store_repeatedly(DeviceBuffer<std::byte>& to, std::span<const std::byte> period,
                      Stream& stream);

// A random tensor on the device: standard normals (i32: integers up to 1000, i8: uniform). The host
// can compute each element by index. Values repeat after kPeriod elements.
class RandomTensor {
 public:
  static constexpr std::int64_t kPeriod = card::kUsualPeriod;

  RandomTensor(Dtype dtype, std::int64_t size, test::Tensor tensor, Stream& stream);

  void* data() const { return device_.data(); }
  double at(std::int64_t i) const { return (*period_)[static_cast<std::size_t>(i % kPeriod)]; }

  // Elements [first, first + count).
  std::vector<double> values(std::int64_t first, std::int64_t count) const;

 private:
  std::shared_ptr<const std::vector<double>>
      period_; // one period, or the whole tensor if that is shorter
  DeviceBuffer<std::byte> device_;
};

// The same with a static element type.
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

// The windows of [0, size) to verify. All of it if size <= most. Otherwise both ends and random
// windows between, with about `most` elements in total. Starts and lengths are multiples of `unit`,
// for example of a row.
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

// Copies a window of a device array to the host.
template <class T>
test::Observed observe(const DeviceBuffer<T>& buffer, Window window, Stream& stream) {
  std::vector<T> elements(static_cast<std::size_t>(window.count));
  copy_to_host(elements.data(), buffer.data() + window.first, elements.size() * sizeof(T), stream);
  return test::observe(elements);
}

} // namespace kg::perf
