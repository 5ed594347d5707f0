// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// An input of a timed case on the device. It is random, given by the tensor's `element` function,
// or computed from other inputs by the problem.
#pragma once

#include "perf/measure/random_data.h"
#include "runtime/buffer.h"
#include "tests/contract/call.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

namespace kg::perf {

class TimedInput {
 public:
  TimedInput(const card::Tensor& tensor, test::Tensor random, Stream& stream) : tensor_(tensor) {
    if (!tensor.element && !tensor.made) {
      random_.emplace(tensor.dtype, card::strided(tensor, {}).storage_size(), random, stream);
      return;
    }
    const std::size_t width = size_of(tensor.dtype);
    given_ = DeviceBuffer<std::byte>(static_cast<std::size_t>(tensor.size()) * width);
    if (tensor.made) return;
    const std::int64_t distinct =
        tensor.period > 0 ? std::min(tensor.period, tensor.size()) : tensor.size();
    std::vector<std::byte> bytes(static_cast<std::size_t>(distinct) * width);
    for (std::int64_t i = 0; i < distinct; ++i) {
      const std::uint64_t bits = tensor.element(i);
      std::memcpy(bytes.data() + static_cast<std::size_t>(i) * width, &bits,
                  width); // little-endian
    }
    store_repeatedly(given_, bytes, stream);
  }

  void* data() const { return random_ ? random_->data() : given_.data(); }

  // Copies a computed input to the host, after the problem has computed it.
  void read(Stream& stream) {
    if (tensor_.made) made_ = test::observe_bytes(tensor_.dtype, given_.to_host(stream));
  }

  // The number of elements after which the values repeat; 0: never.
  std::int64_t period() const {
    return !random_ ? tensor_.period : tensor_.gap == 0 ? RandomTensor::kPeriod : 0;
  }

  // Bits and value of element i, in row-major order.
  std::uint64_t bits(std::int64_t i) const {
    if (tensor_.made) return made_.bits[static_cast<std::size_t>(i)];
    return random_ ? test::encode(tensor_.dtype, value(i)) : given(i);
  }
  double value(std::int64_t i) const {
    if (tensor_.made) return made_.values[static_cast<std::size_t>(i)];
    if (!random_) return test::decode(tensor_.dtype, given(i));
    const std::int64_t cols = tensor_.extents.back();
    return random_->at(tensor_.gap == 0 ? i : i / cols * (cols + tensor_.gap) + i % cols);
  }

 private:
  std::uint64_t given(std::int64_t i) const {
    return tensor_.element(tensor_.period > 0 ? i % tensor_.period : i);
  }

  card::Tensor tensor_;
  std::optional<RandomTensor> random_;
  DeviceBuffer<std::byte> given_;
  test::Observed made_;
};

} // namespace kg::perf
