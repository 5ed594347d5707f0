// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The head dimensions for which the kernels of variant flash are compiled.
#pragma once

#include <cstdint>

namespace kg::attention {

// Whether a kernel supports these head dimensions.
constexpr bool flash_holds(std::int64_t depth, std::int64_t value_depth) {
  return depth % 8 == 0 && value_depth % 8 == 0 && depth <= 256 && value_depth <= depth;
}

// Calls body.template operator()<kDepth, kValueDepth>() for the smallest kernel whose
// dimensions are at least these.
template <class Body>
auto with_flash_depths(std::int64_t depth, std::int64_t value_depth, Body body) {
  if (depth <= 64) return body.template operator()<64, 64>();
  if (depth <= 96) return body.template operator()<96, 96>();
  if (depth <= 128) return body.template operator()<128, 128>();
  if (depth <= 192 && value_depth <= 128) return body.template operator()<192, 128>();
  return body.template operator()<256, 256>();
}

} // namespace kg::attention
