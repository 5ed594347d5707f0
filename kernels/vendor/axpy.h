// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vendor/variants.h"

namespace kg::vendor {

// out = alpha x + y. BLAS has only y += alpha x, so its variants copy y to out first: five passes
// over memory, not three. Where alpha is 0 they do not read x.
void axpy(std::string_view variant, Dtype dtype, float alpha, const void* x, const void* y,
          void* out, std::int64_t n, Stream& stream);

using AxpyVariant = VariantOf<axpy, Dtype>;
extern const Table<AxpyVariant> axpy_table;

} // namespace kg::vendor
