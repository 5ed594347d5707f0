// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "elementwise/op.h"
#include "vendor/variants.h"

namespace kg::vendor {

void elementwise(std::string_view variant, elementwise::Op op, Dtype dtype, const void* a,
                 const void* b, void* out, std::int64_t n, Stream& stream);

using ElementwiseVariant = VariantOf<elementwise, elementwise::Op, Dtype>;
extern const Table<ElementwiseVariant> elementwise_table;

} // namespace kg::vendor
