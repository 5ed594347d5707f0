// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/concat.h"

namespace kg::vendor {

std::span<const ConcatVariant> concat_table() {
  static constexpr ConcatVariant kTable[] = {{"memcpy", nullptr}, {"thrust", nullptr}};
  return kTable;
}

} // namespace kg::vendor
