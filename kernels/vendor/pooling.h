// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pooling/problem.h"
#include "vendor/variants.h"

namespace kg::vendor {

void pooling(std::string_view variant, pooling::Kind kind, Dtype dtype,
             const pooling::Problem& problem, const void* x, void* y, Stream& stream);

using PoolingVariant = VariantOf<pooling, pooling::Kind, Dtype, const pooling::Problem&>;
extern const Table<PoolingVariant> pooling_table;

} // namespace kg::vendor
