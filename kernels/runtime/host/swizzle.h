// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The byte layout of swizzled tiles: 16-byte units are permuted within 8 rows, depending on the
// shared memory address (CUDA Driver API, "CUtensorMapSwizzle"; PTX ISA, "Swizzling Modes").
#pragma once

#include "runtime/host/tensor_map.h"

#include <cstddef>
#include <cstdint>

namespace kg::host {

// Bytes per row of the pattern; 0 without swizzling.
inline std::size_t bytes_of(Swizzle swizzle) {
  return swizzle == Swizzle::none ? 0 : std::size_t{16} << static_cast<unsigned>(swizzle);
}

inline std::uintptr_t swizzled(std::uintptr_t address, Swizzle swizzle) {
  const std::uintptr_t rows = (std::uintptr_t{1} << static_cast<unsigned>(swizzle)) - 1;
  return address ^ (address >> 7 & rows) << 4;
}

} // namespace kg::host
