// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/attention.h"

namespace kg::vendor {

std::span<const AttentionVariant> attention_table() {
  static constexpr AttentionVariant kTable[] = {
      {"openblas", "openblas", "onednn"},
      {"onednn", "onednn", "onednn"},
  };
  return kTable;
}

} // namespace kg::vendor
