// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of known costs and resources, for the tests of the exact gate.
#pragma once

#include "perf/judge/exact_gate.h"

#include <string>
#include <utility>
#include <vector>

namespace kg::judge::test {

inline ExactRow cost(double value, const std::string& metric = "sectors",
                     const std::string& variant = "tiled") {
  return {{"gemm.f32.m64", variant, metric}, {value, 4}, "g++12", "first measurement", 2};
}

// A kernel of 64 registers, 2 KiB of static shared memory, 256 threads, half the warps and a split
// store; 32 bytes of loads in flight, 120.5 instructions a KiB and two divisions, one in a loop.
inline ExactRow kernel(const std::string& name = "gemm.tiled") {
  return {
      {name}, {64, 0, 0, 2048, 0, 256, 50, 0, 1, 32, 120.5, 0, 2, 1}, "", "first measurement", 2};
}

// The same kernel with one quantity changed, by its place in resource_table().
inline ExactRow kernel_with(std::size_t quantity, double value) {
  ExactRow row = kernel();
  row.values.at(quantity) = value;
  return row;
}

inline ExactMeasured measured(ExactRow row, Gating gating = Gating::always) {
  return {std::move(row), gating, "", ""};
}

inline ExactFile file_of(std::vector<ExactRow> rows, const std::string& path = "gemm.csv") {
  return {path, true, std::move(rows), {}};
}

} // namespace kg::judge::test
