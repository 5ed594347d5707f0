// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vendor/variants.h"

namespace kg::vendor {

// As in select/select.h; elements are compared as integers of their size.
struct SelectProblem {
  Dtype dtype = Dtype::f32;
  std::int64_t n = 0;
  bool flagged = true;
};

void select(std::string_view variant, const SelectProblem& problem, const void* x,
            const std::int8_t* flags, void* y, std::int32_t* count, Stream& stream);

using SelectVariant = VariantOf<select, const SelectProblem&>;
extern const Table<SelectVariant> select_table;

} // namespace kg::vendor
