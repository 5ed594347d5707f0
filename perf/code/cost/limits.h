// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gate of costs for tests that keep their blessed values in the source: any increase fails.
#pragma once

#include "runtime/host/count/counts.h"

#include <string>
#include <vector>

namespace kg::cost {

struct Limit {
  std::string metric; // as metrics() names it
  double blessed = 0; // the most that passes
};

// A line for every metric of the launches, all together, that is above its limit: both values, the
// line of source that costs most, and what usually helps there. Empty: all is well. Counts are
// exact, so values are compared as they are and shown in full. No launches, no limits and a name
// that is not a metric's are failures, too.
std::string exceeded(const std::vector<count::Launch>& launches, const std::vector<Limit>& limits);

} // namespace kg::cost
