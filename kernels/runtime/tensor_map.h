// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A tensor map as kernels take it: by value, as a __grid_constant__ parameter (CUDA driver API,
// CUtensorMap). Its contents are opaque; the driver or runtime/host/tensor_map.h encodes them.
#pragma once

#include <cstdint>

namespace kg {

struct alignas(64) TensorMap {
  std::uint64_t words[16];
};

} // namespace kg
