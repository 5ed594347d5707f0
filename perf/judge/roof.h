// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Roofline: the share of the device's measured ceilings that a row reaches. A row beyond a ceiling
// did not do the work, or its work is counted wrongly.
#pragma once

#include "perf/judge/result.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace kg::judge {

// Rates per second, as in device.json (device_file.h). Memory ceilings apply to cold rows only,
// since cached data may be read faster. "l2_bytes" is a size: up to min(L2, bytes written) of a
// cold row's writes may still be in the cache when it ends, while everything it reads comes from
// memory.
using Ceilings = std::map<std::string, double>;

// The share of a ceiling that a row reaches. `roof` is "memory", "Tensor Cores" or a type ("f32").
struct RoofShare {
  double share = 0;
  std::string roof;
};

// The largest share of a ceiling that the row's median reaches. Empty if no ceiling is known or the
// row has no time or no work. The memory ceiling is that of the row's mix of reads and writes
// ("read_", "add_", "copy_" and "write_bytes_per_s"), or "dram_bytes_per_s" if none of these or the
// written bytes are unknown. The arithmetic ceiling depends on the precision: "f32_flops_per_s" for
// f32; for other types, and for f32 rows with Measured::tf32, the larger of "<dtype>_flops_per_s"
// and "<dtype>_matrix_flops_per_s".
std::optional<RoofShare> nearest_roof(const Measured& row, const Ceilings& ceilings);
std::optional<double> roof_share(const Measured& row, const Ceilings& ceilings);

// An impossible rate and the ceiling it exceeds, both per second.
struct RoofExcess {
  double rate = 0;
  double ceiling = 0;
  std::string_view unit; // "bytes" or "floating-point operations"
};

// Whether the row's median exceeds "dram_bytes_per_s", the fastest mix, or the fastest arithmetic
// of its type. The margins are 2 % for memory, which is a measured value itself, and 40 % for
// arithmetic, whose ceiling is measured at the clock that the power limit allows.
std::optional<RoofExcess> roof_excess(const Measured& row, const Ceilings& ceilings);

} // namespace kg::judge
