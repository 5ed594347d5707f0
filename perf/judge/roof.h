// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How close a row comes to what the device can do at all, by the ceilings measured on it, and which
// times cannot be: a row that moves bytes or does arithmetic faster than the device was ever seen
// to did not do the work, or its work is counted wrongly.
#pragma once

#include "perf/judge/result.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace kg::judge {

// Per second, as in device.json (device_file.h). Those of memory are for rows timed cold: a row
// whose data is in a cache may well be faster. "l2_bytes" is no rate: so much of what a cold row
// writes, min(L2, bytes written), may still be in the cache when it ends, and need not have passed
// the memory; what it reads has.
using Ceilings = std::map<std::string, double>;

// A ceiling, "memory", "Tensor Cores" or a type's arithmetic ("f32"), and the share that a row
// reaches of it.
struct RoofShare {
  double share = 0;
  std::string roof;
};

// The greatest share of a ceiling that the row's median reaches; nothing where no ceiling is known
// or the row has no time or no work. The ceiling of memory is that of the row's mix of reads and
// writes ("read_", "add_", "copy_" and "write_bytes_per_s"; "dram_bytes_per_s" where none of them
// is known, or not what the row writes). That of arithmetic is of the row's precision: f32 is a
// share of "f32_flops_per_s", multiply-adds; with "tf32" in its case, as other types are, of the
// greater of "<dtype>_flops_per_s" and "<dtype>_matrix_flops_per_s".
std::optional<RoofShare> nearest_roof(const Measured& row, const Ceilings& ceilings);
std::optional<double> roof_share(const Measured& row, const Ceilings& ceilings);

// A rate that cannot be, and the ceiling that it exceeds, both per second.
struct RoofExcess {
  double rate = 0;
  double ceiling = 0;
  std::string_view unit; // "bytes" or "floating-point operations"
};

// What is impossible about the row's median, or nothing: more than "dram_bytes_per_s", the fastest
// mix, or more than the fastest arithmetic of its type. It may exceed memory's ceiling by 2 %,
// since that is measured, too, and arithmetic's by 40 %, since that is measured at the clock that
// the power limit leaves.
std::optional<RoofExcess> roof_excess(const Measured& row, const Ceilings& ceilings);

} // namespace kg::judge
