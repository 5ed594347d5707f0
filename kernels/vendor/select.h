// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/dtype.h"
#include "runtime/stream.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kg::vendor {

// As in select/select.h; elements are compared as integers of their size.
struct SelectProblem {
  Dtype dtype = Dtype::f32;
  std::int64_t n = 0;
  bool flagged = true;
};

std::vector<std::string_view> select_variants(const SelectProblem& problem);
void select(std::string_view variant, const SelectProblem& problem, const void* x,
            const std::int8_t* flags, void* y, std::int32_t* count, Stream& stream);

// What a backend brings (host/, cuda/): see vendor/dispatch.h.
struct SelectVariant {
  std::string_view name;
  bool (*supports)(const SelectProblem& problem);
  void (*run)(const SelectProblem& problem, const void* x, const std::int8_t* flags, void* y,
              std::int32_t* count, Stream& stream);
};
std::span<const SelectVariant> select_table();

} // namespace kg::vendor
