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

// As in histogram/histogram.h.
struct HistogramProblem {
  Dtype dtype = Dtype::f32;
  std::int64_t n = 0, bins = 0;
  double lower = 0, upper = 0;
};

std::vector<std::string_view> histogram_variants(const HistogramProblem& problem);
void histogram(std::string_view variant, const HistogramProblem& problem, const void* x,
               std::int32_t* counts, Stream& stream);

// What a backend brings (host/, cuda/): see vendor/dispatch.h.
struct HistogramVariant {
  std::string_view name;
  bool (*supports)(const HistogramProblem& problem);
  void (*run)(const HistogramProblem& problem, const void* x, std::int32_t* counts, Stream& stream);
};
std::span<const HistogramVariant> histogram_table();

} // namespace kg::vendor
