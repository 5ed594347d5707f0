// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A tensor map as kernels take it: by value, as a parameter declared __grid_constant__ (CUDA driver
// API, CUtensorMap). What it holds is known to those who made it: a driver, or
// runtime/host/tensor_map.h.
#pragma once

#include <cstdint>

namespace kg {

struct alignas(64) TensorMap {
  std::uint64_t words[16];
};

} // namespace kg
