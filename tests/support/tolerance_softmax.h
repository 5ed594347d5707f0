// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of whole results of the softmax family, beside those of tolerance.h.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/dtype.h"
#include "tests/support/oracle_rows.h"
#include "tests/support/tolerance.h"
#include "tests/support/tolerance_rows.h"

namespace kg::test {

inline std::vector<double> log_softmax_tolerances(const LogSoftmaxOracle& oracle, Dtype output,
                                                  std::int64_t chain) {
  std::vector<double> bounds;
  for (std::size_t i = 0; i < oracle.value.size(); ++i) {
    const double value = oracle.value[i];
    const double computed =
        log_softmax_f32_tolerance(value, oracle.distance[i], oracle.log_sum[i], chain);
    bounds.push_back(std::isfinite(value) ? stored_tolerance(output, value, computed) : 0);
  }
  return bounds;
}

} // namespace kg::test
