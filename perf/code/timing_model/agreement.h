// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures how well modelled times agree with measured ones.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kg::model {

// Reports omit modelled times below either limit.
inline constexpr double kLeastCorrelation = 0.8;
inline constexpr std::size_t kLeastRows = 50;

struct Agreement {
  std::size_t rows = 0;
  double correlation = 0;      // Spearman's; NaN below two rows or for constant values
  double median_log_error = 0; // median of |ln(modelled / measured)|; NaN without rows
  bool shown = false;          // reports show modelled times
};

// All times in the same unit, above 0. Throws kg::Error if the lists differ in length.
Agreement agreement(const std::vector<double>& modelled, const std::vector<double>& measured);

// One or two lines for the terminal.
std::string text(const Agreement& agreement);

} // namespace kg::model
