// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vendor/variants.h"

namespace kg::vendor {

// As in histogram/histogram.h.
struct HistogramProblem {
  Dtype dtype = Dtype::f32;
  std::int64_t n = 0, bins = 0;
  double lower = 0, upper = 0;
};

void histogram(std::string_view variant, const HistogramProblem& problem, const void* x,
               std::int32_t* counts, Stream& stream);

using HistogramVariant = VariantOf<histogram, const HistogramProblem&>;
extern const Table<HistogramVariant> histogram_table;

} // namespace kg::vendor
