// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduce_by_key/reduce_by_key.h"
#include "vendor/variants.h"

namespace kg::vendor {

// As in reduce_by_key/reduce_by_key.h. The order of additions is the library's, and so is what
// becomes of NaN.
void reduce_by_key(std::string_view variant, const reduce_by_key::Problem& problem,
                   const reduce_by_key::Arrays& arrays, Stream& stream);

using ReduceByKeyVariant = VariantOf<reduce_by_key, const reduce_by_key::Problem&>;
extern const Table<ReduceByKeyVariant> reduce_by_key_table;

} // namespace kg::vendor
