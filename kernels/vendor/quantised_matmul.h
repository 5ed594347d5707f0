// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/dtype.h"
#include "runtime/stream.h"
#include "vendor/library.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

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

std::vector<std::string_view> quantised_matmul_variants(Dtype dtype, bool integers);
void quantised_matmul(std::string_view variant, const QuantisedProduct& product, Math math,
                      Stream& stream);

// What a backend brings (host/, cuda/): see vendor/dispatch.h.
struct QuantisedVariant {
  std::string_view name;
  bool (*supports)(Dtype dtype, bool integers);
  void (*run)(const QuantisedProduct& product, Math math, Stream& stream);
};
std::span<const QuantisedVariant> quantised_matmul_table();

} // namespace kg::vendor
