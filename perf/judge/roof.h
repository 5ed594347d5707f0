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

namespace kg::judge {

// Per second, as in device.json (device_file.h). Looked at are "dram_bytes_per_s", for rows timed
// cold (a row whose data is in a cache may well be faster), and the greater of
// "<dtype>_flops_per_s" and "<dtype>_matrix_flops_per_s". "l2_bytes" is no rate: so much of what a
// cold row writes may still be in the cache when it ends, and need not have passed the memory.
using Ceilings = std::map<std::string, double>;

// The greatest share of a ceiling that the row's median reaches; nothing where no ceiling is known
// or the row has no time or no work.
std::optional<double> roof_share(const Measured& row, const Ceilings& ceilings);

// What is impossible about the row's median, or nothing. It may exceed a ceiling by 2 %, since
// ceilings are measured, too.
std::optional<std::string> beyond_roof(const Measured& row, const Ceilings& ceilings);

} // namespace kg::judge
