// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vendor/variants.h"

namespace kg::vendor {

// `packed`: rows follow each other without gaps on both sides.
Names copy_variants(Dtype dtype, bool packed);
void copy(std::string_view variant, Dtype dtype, const void* x, std::int64_t rows,
          std::int64_t cols, std::int64_t ldx, void* y, std::int64_t ldy, Stream& stream);

using CopyVariant = VariantOf<copy_variants, copy>;
extern const Table<CopyVariant> copy_table;

} // namespace kg::vendor
