// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pooling/problem.h"
#include "runtime/dtype.h"
#include "runtime/stream.h"

#include <span>
#include <string_view>
#include <vector>

namespace kg::vendor {

std::vector<std::string_view> pooling_variants(pooling::Kind kind, Dtype dtype,
                                               const pooling::Problem& problem);
void pooling(std::string_view variant, pooling::Kind kind, Dtype dtype,
             const pooling::Problem& problem, const void* x, void* y, Stream& stream);

// What a backend brings (host/, cuda/): see vendor/dispatch.h.
struct PoolingVariant {
  std::string_view name;
  bool (*supports)(pooling::Kind kind, Dtype dtype, const pooling::Problem& problem);
  void (*run)(pooling::Kind kind, Dtype dtype, const pooling::Problem& problem, const void* x,
              void* y, Stream& stream);
};
std::span<const PoolingVariant> pooling_table();

} // namespace kg::vendor
