// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "elementwise/op.h"
#include "runtime/dtype.h"
#include "runtime/stream.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kg::vendor {

std::vector<std::string_view> elementwise_variants(elementwise::Op op, Dtype dtype);
void elementwise(std::string_view variant, elementwise::Op op, Dtype dtype, const void* a,
                 const void* b, void* out, std::int64_t n, Stream& stream);

// What a backend brings (host/, cuda/): see vendor/dispatch.h.
struct ElementwiseVariant {
  std::string_view name;
  bool (*supports)(elementwise::Op op, Dtype dtype);
  void (*run)(elementwise::Op op, Dtype dtype, const void* a, const void* b, void* out,
              std::int64_t n, Stream& stream);
};
std::span<const ElementwiseVariant> elementwise_table();

} // namespace kg::vendor
