// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/timing_model/agreement.h"

#include "perf/code/timing_model/model.h"
#include "perf/judge/statistics.h"
#include "runtime/error.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace kg::model {

Agreement agreement(const std::vector<double>& modelled, const std::vector<double>& measured) {
  require(modelled.size() == measured.size(),
          fmt::format("{} modelled and {} measured times; each row has both", modelled.size(),
                      measured.size()));
  Agreement found;
  found.rows = modelled.size();
  found.correlation = found.median_log_error = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> errors;
  for (std::size_t i = 0; i < modelled.size(); ++i) {
    require(modelled[i] > 0 && measured[i] > 0,
            fmt::format("row {}: modelled {}, measured {}; times are above 0", i, modelled[i],
                        measured[i]));
    errors.push_back(std::abs(std::log(modelled[i] / measured[i])));
  }
  if (!errors.empty()) found.median_log_error = judge::median(errors);
  if (found.rows >= 2) found.correlation = rank_correlation(modelled, measured);
  // Also false for a NaN correlation.
  found.shown = found.rows >= kLeastRows && found.correlation >= kLeastCorrelation;
  return found;
}

std::string text(const Agreement& agreement) {
  return fmt::format("{} rows: Spearman's rank correlation {:.3f}, median |ln(modelled / "
                     "measured)| {:.3f} (a factor of {:.2f})\n{}\n",
                     agreement.rows, agreement.correlation, agreement.median_log_error,
                     std::exp(agreement.median_log_error),
                     agreement.shown
                         ? "shown in reports"
                         : fmt::format("not shown in reports: below {} or fewer than {} rows",
                                       kLeastCorrelation, kLeastRows));
}

} // namespace kg::model
