// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vendor/variants.h"

namespace kg::vendor {

void transpose(std::string_view variant, Dtype dtype, const void* x, std::int64_t rows,
               std::int64_t cols, std::int64_t ldx, void* y, std::int64_t ldy, Stream& stream);

using TransposeVariant = VariantOf<transpose, Dtype>;
extern const Table<TransposeVariant> transpose_table;

} // namespace kg::vendor
