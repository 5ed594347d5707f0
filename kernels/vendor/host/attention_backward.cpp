// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/attention_backward.h"

namespace kg::vendor {

std::span<const AttentionBackwardVariant> attention_backward_table() {
  static constexpr AttentionBackwardVariant kTable[] = {
      {"openblas", "openblas", "onednn"},
      {"onednn", "onednn", "onednn"},
  };
  return kTable;
}

} // namespace kg::vendor
