// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/dtype.h"
#include "runtime/stream.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kg::vendor {

// out = alpha x + y. BLAS has only y += alpha x, so its variants copy y to out first: five passes
// over memory, not three. Where alpha is 0 they do not read x.
std::vector<std::string_view> axpy_variants(Dtype dtype);
void axpy(std::string_view variant, Dtype dtype, float alpha, const void* x, const void* y,
          void* out, std::int64_t n, Stream& stream);

// What a backend brings (host/, cuda/): see vendor/dispatch.h.
struct AxpyVariant {
  std::string_view name;
  bool (*supports)(Dtype dtype);
  void (*run)(Dtype dtype, float alpha, const void* x, const void* y, void* out, std::int64_t n,
              Stream& stream);
};
std::span<const AxpyVariant> axpy_table();

} // namespace kg::vendor
