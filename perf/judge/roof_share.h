// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How close a row comes to what the device can do at all, by the ceilings measured on it.
#pragma once

#include "perf/judge/result.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

namespace kg::judge {

// More than this share of a measured ceiling is no speed but a mistake: of the bytes or operations
// that the row is said to need, or of the time.
inline constexpr double kBelievableRoof = 1.02;

// The greater of the shares of "dram_bytes_per_s" and of "<dtype>_matrix_flops_per_s" or, where
// there is no such ceiling, "<dtype>_flops_per_s"; nothing where none is known. Memory bounds cold
// rows only: the others may find their data in a cache.
inline std::optional<double> roof_share(const Measured& row,
                                        const std::map<std::string, double>& ceilings) {
  const auto share = [&](const std::string& ceiling, double work) -> std::optional<double> {
    const auto at = ceilings.find(ceiling);
    if (at == ceilings.end() || !(row.median_ns > 0) || !(work > 0)) return std::nullopt;
    return work / (row.median_ns * 1e-9) / at->second;
  };
  const auto memory =
      row.key.mode == Mode::cold ? share("dram_bytes_per_s", row.bytes) : std::nullopt;
  const std::string matrix = row.dtype + "_matrix_flops_per_s";
  const auto compute =
      share(ceilings.contains(matrix) ? matrix : row.dtype + "_flops_per_s", row.flops);
  return std::max(memory, compute); // nothing is less than any share
}

} // namespace kg::judge
