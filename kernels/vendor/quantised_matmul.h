// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vendor/library.h"
#include "vendor/variants.h"

namespace kg::vendor {

// As in quantised_matmul/quantised_matmul.h, of its kinds w8a8 and e4m3.
struct QuantisedProduct {
  bool integers = true;
  Dtype dtype = Dtype::f32; // of y
  std::int64_t m = 0, n = 0, k = 0;
  const void *x = nullptr, *w = nullptr;
  const float *x_scale = nullptr, *w_scale = nullptr;
  void* y = nullptr;
  std::int32_t* sums = nullptr; // m x n, overwritten; of integers alone

  friend bool operator==(const QuantisedProduct&, const QuantisedProduct&) = default;
};

void quantised_matmul(std::string_view variant, const QuantisedProduct& product, Math math,
                      Stream& stream);

using QuantisedVariant = VariantOf<quantised_matmul, Dtype, bool>;
extern const Table<QuantisedVariant> quantised_matmul_table;

} // namespace kg::vendor
