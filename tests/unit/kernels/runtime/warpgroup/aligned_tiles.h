// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/device_code.h"

#include <cstdint>

namespace kg::warpgroup {

inline constexpr unsigned kTilesAlignment = 1024; // of which a launch has as many bytes to spare

// The first such address in dynamic shared memory.
__device__ inline unsigned char* aligned_tiles() {
  auto* const first = dynamic_shared<unsigned char>();
  const auto over = reinterpret_cast<std::uintptr_t>(first) % kTilesAlignment;
  return first + (over == 0 ? 0 : kTilesAlignment - over);
}

} // namespace kg::warpgroup
