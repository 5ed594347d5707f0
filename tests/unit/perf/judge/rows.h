// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of known figures, for the tests of the judge.
#pragma once

#include "perf/judge/baseline.h"
#include "perf/judge/gate.h"
#include "perf/judge/result.h"

#include <string>
#include <vector>

namespace kg::judge::test {

inline RowKey key(const std::string& case_id = "softmax.f32.r64_c64",
                  const std::string& variant = "online", Mode mode = Mode::real) {
  return {case_id, variant, mode};
}

// A quiet row: 40 samples within +-1 % of the median, beside a memory canary of 1000 ns known to 1
// %.
inline Measured measured(double median_ns, const RowKey& row_key = key()) {
  Measured row;
  row.op = std::string(op_of(row_key.case_id));
  row.dtype = std::string(dtype_of(row_key.case_id));
  row.key = row_key;
  row.category = "normalisation";
  std::vector<double> samples;
  for (int i = -20; i <= 20; ++i) samples.push_back(median_ns * (1 + i * 0.0005));
  take_samples(row, samples);
  row.canary = MeasuredCanary{CanaryKind::memory, 1000, 0.01};
  row.bytes = 32768;
  row.flops = 20480;
  return row;
}

inline TimingRow blessed(double median_ns, const RowKey& row_key = key()) {
  TimingRow row;
  row.key = row_key;
  row.median_ns = median_ns;
  row.ci_ns = {0.99 * median_ns, 1.01 * median_ns};
  row.process_medians_ns = {median_ns};
  row.canary = Canary{CanaryKind::memory, 1000};
  row.tol_pct = 2;
  row.bytes = 32768;
  row.flops = 20480;
  row.why = "first measurement";
  row.line = 2;
  return row;
}

inline TimingFile file_of(std::vector<TimingRow> rows, const std::string& path = "softmax.csv") {
  return {path, true, std::move(rows), {}};
}

inline Registered registered(const RowKey& row_key = key()) {
  return {std::string(op_of(row_key.case_id)),
          std::string(dtype_of(row_key.case_id)),
          row_key,
          "normalisation",
          Kind::ours,
          true};
}

} // namespace kg::judge::test
