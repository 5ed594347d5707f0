// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/enumerators.h"

#include <cstdint>
#include <string>

namespace kg::normalization {

// Error text: why a forward or backward variant does not support rows of `cols` elements;
// warp_most: the limit of variant warp.
template <class Variant>
std::string unsupported_cols(const std::string& op, Variant variant, std::int64_t cols,
                             std::int64_t warp_most) {
  const std::string begin = op + ": variant " + std::string(kg::name(variant));
  if constexpr (requires { Variant::cluster; })
    if (variant == Variant::cluster)
      return begin + " does not take rows of " + std::to_string(cols) +
             " elements here; use automatic";
  return begin + " holds rows of at most " + std::to_string(warp_most) + " elements, not " +
         std::to_string(cols) + "; use block";
}

} // namespace kg::normalization
