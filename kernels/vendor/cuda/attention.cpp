// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/attention.h"

namespace kg::vendor {
namespace {

constexpr AttentionVariant kTable[] = {
    {"cublas", "cublas", "cudnn"},
};

} // namespace

std::span<const AttentionVariant> attention_table() { return kTable; }

} // namespace kg::vendor
