// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measured and judged rows as tables: times, rates, and the gate's verdicts.
#pragma once

#include "perf/format/table.h"
#include "perf/judge/gate.h"
#include "perf/judge/result.h"

#include <map>
#include <string>
#include <vector>

namespace kg::report {

// Whether to report the rate in flops: above 8 flops per byte. Machines execute between 10 and 100
// flops in the time of one byte.
constexpr bool counts_operations(double bytes, double flops) { return flops > 8 * bytes; }

// "123 GB/s" or "45.6 GFLOP/s", by counts_operations(). "-" if the row has no time or moves
// nothing.
std::string rate_text(const judge::Measured& row);

// Vendor time / our time, for each of our rows with a vendor's row of the same case and mode. Uses
// the fastest vendor. For GPUs only: on the host the emulator's overhead would be attributed to the
// kernel.
std::map<judge::RowKey, double> vendor_speedups(const std::vector<judge::Measured>& rows);

// case, variant, mode, median, ±CI, rate, and on a GPU the speed-up over the vendor; in the given
// order.
judge::TextTable measured_table(const std::vector<judge::Measured>& rows, judge::Device device);

// The same with grade, ratio and verdict, worst first: failures, then by ratio, then rows without
// one. Rows of `result` that were not measured have no time.
judge::TextTable judged_table(const judge::GateResult& result,
                              const std::vector<judge::Measured>& rows, judge::Device device);

// The device of a stored run.
judge::Device device_of(const judge::Results& run);

} // namespace kg::report
