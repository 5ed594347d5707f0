// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measured and judged rows as a table: what took how long, at which rate, and what the gate makes
// of it.
#pragma once

#include "perf/format/table.h"
#include "perf/judge/gate.h"
#include "perf/judge/result.h"

#include <map>
#include <string>
#include <vector>

namespace kg::report {

// Whether work is talked about in operations; with up to 8 of them per byte it is in bytes, since
// machines do between 10 and 100 operations in the time of one byte.
constexpr bool counts_operations(double bytes, double flops) { return flops > 8 * bytes; }

// "123 GB/s", "45.6 GFLOP/s" by what the row does more of per byte; "-" where it has no time or
// moves nothing.
std::string rate_text(const judge::Measured& row);

// Vendor time / our time of each of our rows that a vendor's row of the same case and mode stands
// beside; the vendor at its fastest. Meant for GPUs: on the host the executor's overhead would be
// held against the kernel.
std::map<judge::RowKey, double> standings(const std::vector<judge::Measured>& rows);

// case, variant, mode, median, ±CI, rate, on a GPU the standing; in the order given.
judge::TextTable measured_table(const std::vector<judge::Measured>& rows, judge::Device device);

// The same beside grade, ratio and verdict, worst first: failures, then by ratio, then what has
// none. Rows of `result` without a measured one are shown without a time.
judge::TextTable judged_table(const judge::GateResult& result,
                              const std::vector<judge::Measured>& rows, judge::Device device);

// Of the machine that a stored run was measured on.
judge::Device device_of(const judge::Results& run);

} // namespace kg::report
