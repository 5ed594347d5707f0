// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scan/op.h"
#include "vendor/variants.h"

namespace kg::vendor {

// As in scan/scan.h. The order of additions is the library's, and so is what becomes of NaN.
struct ScanProblem {
  scan::Op op = scan::Op::sum;
  scan::Kind kind = scan::Kind::inclusive;
  Dtype dtype = Dtype::f32;
  std::int64_t n = 0;
  bool segmented = false;
};

void scan(std::string_view variant, const ScanProblem& problem, const void* x,
          const std::int8_t* heads, void* y, Stream& stream);

using ScanVariant = VariantOf<scan, const ScanProblem&>;
extern const Table<ScanVariant> scan_table;

} // namespace kg::vendor
