// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Cost gate for tests that keep their blessed values in the source. Any increase fails.
#pragma once

#include "runtime/host/count/counts.h"

#include <string>
#include <vector>

namespace kg::cost {

struct Limit {
  std::string metric; // as metrics() names it
  double blessed = 0; // upper limit
};

// One line for each metric, summed over the launches, that exceeds its limit: both values, the
// source line with the largest cost, and the usual fix. Empty if all pass. Counts are exact, so
// values are compared and shown without rounding. No launches, no limits and an unknown metric are
// failures as well.
std::string exceeded(const std::vector<count::Launch>& launches, const std::vector<Limit>& limits);

} // namespace kg::cost
