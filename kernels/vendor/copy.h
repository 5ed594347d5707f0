// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vendor/variants.h"

namespace kg::vendor {

void copy(std::string_view variant, Dtype dtype, const void* x, std::int64_t rows,
          std::int64_t cols, std::int64_t ldx, void* y, std::int64_t ldy, Stream& stream);

// Asked whether rows follow each other without gaps on both sides, too.
using CopyVariant = VariantOf<copy, Dtype, bool>;
extern const Table<CopyVariant> copy_table;

} // namespace kg::vendor
