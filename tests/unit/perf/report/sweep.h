// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of a sweep over sizes.
#pragma once

#include "perf/judge/result.h"

#include <cmath>
#include <string>
#include <vector>

namespace kg::report::test {

// Of ours, timed cold; the interval of its median is 1 % to either side.
inline judge::Measured sweep_row(const std::string& case_id, const std::string& variant,
                                 double bytes, double ns) {
  judge::Measured row;
  row.op = judge::op_of(case_id);
  row.dtype = judge::dtype_of(case_id);
  row.key = {case_id, variant, judge::Mode::cold};
  row.bytes = bytes;
  row.samples_ns = {ns};
  row.median_ns = ns;
  row.ci_ns = {0.99 * ns, 1.01 * ns};
  return row;
}

// Variants that take n and 100 sqrt(n) nanoseconds, lines on logarithmic axes that cross at 10^4
// bytes; rows of 1000, 3000 and 100,000 that say what `automatic` takes, where it is given.
inline judge::Results crossing_run(const std::string& automatic = "") {
  judge::Results run{{{"device", "nvidia-h200"}}, {}};
  for (const int n : {1000, 3000, 100000}) {
    const std::string id = "copy.f32.n" + std::to_string(n);
    run.rows.push_back(sweep_row(id, "linear", n, n));
    run.rows.push_back(sweep_row(id, "root", n, 100 * std::sqrt(n)));
  }
  for (judge::Measured& row : run.rows)
    if (!automatic.empty()) row.tags["automatic"] = automatic;
  return run;
}

} // namespace kg::report::test
