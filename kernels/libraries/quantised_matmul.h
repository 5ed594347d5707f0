// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/dispatch.h"
#include "libraries/library.h"
#include "runtime/memory.h"

namespace kg::vendor {

// As in ops/quantised_matmul/quantised_matmul.h, for the kinds w8a8 and e4m3.
struct QuantisedProduct {
  bool integers = true;
  Dtype dtype = Dtype::f32; // of y
  std::int64_t m = 0, n = 0, k = 0;
  const void *x = nullptr, *w = nullptr;
  const float *x_scale = nullptr, *w_scale = nullptr;
  void* y = nullptr;
  std::int32_t* sums = nullptr; // workspace of m x n, only with integers

  friend bool operator==(const QuantisedProduct&, const QuantisedProduct&) = default;
};

using QuantisedVariant = VariantOf<void(const QuantisedProduct&, Math, Stream&), Dtype, bool>;
extern const Table<QuantisedVariant> quantised_matmul_table;

inline void quantised_matmul(std::string_view variant, const QuantisedProduct& p, Math math,
                             Stream& stream) {
  const std::string what = join("quantised_matmul", {name(p.dtype)});
  require_extents(what, {{"m", p.m}, {"n", p.n}, {"k", p.k}});
  const auto& entry = find(quantised_matmul_table, variant, what, p.dtype, p.integers);
  if (p.m * p.n == 0) return;
  require_pointers(what, {{"y", p.y}});
  if (p.k == 0)
    return fill_bytes(p.y, 0, static_cast<std::size_t>(p.m * p.n) * size_of(p.dtype), stream);
  require_pointers(what, {{"x", p.x}, {"w", p.w}, {"x_scale", p.x_scale}, {"w_scale", p.w_scale}});
  if (p.integers) require_pointers(what, {{"sums", p.sums}});
  entry.run(p, math, stream);
}

} // namespace kg::vendor
