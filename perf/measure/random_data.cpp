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

// Kept for the process, since making a million normals takes as long as timing a row.
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

RandomTensor::RandomTensor(Dtype dtype, std::int64_t size, test::Tensor tensor, Stream& stream)
    : device_(static_cast<std::size_t>(size) * size_of(dtype)) {
  const auto made = static_cast<std::size_t>(std::min(size, kPeriod)) * size_of(dtype);
  const Period source = period(dtype, std::min(size, kPeriod), tensor);
  period_ = source.values;
  copy_to_device(device_.data(), source.bytes->data(), made, stream);
  // Each copy doubles what is there: gigabytes need not come from the host.
  for (std::size_t done = made; done < device_.size();
       done += std::min(done, device_.size() - done))
    copy_on_device(device_.data() + done, device_.data(), std::min(done, device_.size() - done),
                   stream);
  stream.synchronize();
}

std::vector<double> RandomTensor::values(std::int64_t first, std::int64_t count) const {
  std::vector<double> result;
  for (std::int64_t i = first; i < first + count; ++i) result.push_back(at(i));
  return result;
}

} // namespace kg::perf
