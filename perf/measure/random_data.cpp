// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/random_data.h"

#include "runtime/memory.h"

#include <cstring>
#include <map>
#include <mutex>
#include <utility>

namespace kg::perf {
namespace {

struct Period {
  std::shared_ptr<const std::vector<double>> values;
  std::shared_ptr<const std::vector<std::byte>> bytes;
};

test::Fill fill(Dtype dtype, std::int64_t count, test::Tensor tensor) {
  if (dtype == Dtype::i32) return test::integers(dtype, count, 1000, tensor);
  return test::random_numbers(dtype, count, tensor);
}

// Kept for the whole process, since a million normals take as long as timing a row.
Period period(Dtype dtype, std::int64_t count, test::Tensor tensor) {
  static std::mutex mutex;
  static std::map<std::pair<Dtype, test::Tensor>, Period> made;
  const std::lock_guard lock(mutex);
  Period& longest = made[{dtype, tensor}];
  if (longest.values && std::ssize(*longest.values) >= count) return longest;
  std::vector<double> values = fill(dtype, count, tensor).values;
  std::vector<std::byte> bytes(values.size() * size_of(dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t bits = test::encode(dtype, values[i]);
    std::memcpy(bytes.data() + i * size_of(dtype), &bits, size_of(dtype)); // little-endian
  }
  longest = {std::make_shared<const std::vector<double>>(std::move(values)),
             std::make_shared<const std::vector<std::byte>>(std::move(bytes))};
  return longest;
}

} // namespace

void store_repeatedly(DeviceBuffer<std::byte>& to, std::span<const std::byte> period,
                      Stream& stream) {
  copy_to_device(to.data(), period.data(), period.size(), stream);
  // Each copy doubles the filled part, so that gigabytes need not come from the host.
  for (std::size_t done = period.size(); done < to.size(); done += std::min(done, to.size() - done))
    copy_on_device(to.data() + done, to.data(), std::min(done, to.size() - done), stream);
  stream.synchronize();
}

RandomTensor::RandomTensor(Dtype dtype, std::int64_t size, test::Tensor tensor, Stream& stream)
    : device_(static_cast<std::size_t>(size) * size_of(dtype)) {
  const std::int64_t distinct = std::min(size, kPeriod);
  const Period source = period(dtype, distinct, tensor);
  period_ = source.values;
  store_repeatedly(
      device_, std::span(*source.bytes).first(static_cast<std::size_t>(distinct) * size_of(dtype)),
      stream);
}

std::vector<double> RandomTensor::values(std::int64_t first, std::int64_t count) const {
  std::vector<double> result;
  for (std::int64_t i = first; i < first + count; ++i) result.push_back(at(i));
  return result;
}

} // namespace kg::perf
