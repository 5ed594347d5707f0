// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How far modelled times may be trusted: their agreement with measured ones.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kg::model {

// Below either a model's times are not shown in reports.
inline constexpr double kLeastCorrelation = 0.8;
inline constexpr std::size_t kLeastRows = 50;

struct Agreement {
  std::size_t rows = 0;
  double correlation = 0;      // Spearman's; NaN for fewer than two rows, or where all are alike
  double median_log_error = 0; // median of |ln(modelled / measured)|; NaN without rows
  bool shown = false;          // in reports
};

// Of times in any one unit, all above 0. Throws kg::Error for lists of different lengths.
Agreement agreement(const std::vector<double>& modelled, const std::vector<double>& measured);

// A line or two for a terminal.
std::string text(const Agreement& agreement);

} // namespace kg::model
