// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Indices in device memory: rows to select, or the target class of each row.
#pragma once

#include "runtime/device_code.h"

#include <cstdint>

namespace kg::gather {

// Indices of 32 or 64 bits, distinguished at run time: a uniform branch instead of a second set of
// kernels.
class Indices {
 public:
  Indices(const std::int32_t* data) : data_(data), wide_(false) {}
  Indices(const std::int64_t* data) : data_(data), wide_(true) {}

  const void* data() const { return data_; }
  std::int64_t bytes_each() const { return wide_ ? 8 : 4; }
  __device__ std::int64_t operator[](std::int64_t i) const {
    return wide_ ? static_cast<const std::int64_t*>(data_)[i]
                 : static_cast<const std::int32_t*>(data_)[i];
  }

 private:
  const void* data_;
  bool wide_;
};

} // namespace kg::gather
