// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The committed timings of one op on one device: baselines/<gpu>/<op>.csv and
// baselines/host/<op>.csv.
#pragma once

#include "perf/format/csv.h"
#include "perf/judge/row.h"
#include "perf/judge/statistics.h"

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kg::judge {

inline constexpr int kTimingSchema = 1;

// The time of the canary kernel that ran beside a row. On host it is required, since rows are
// compared in canary units (a row's time over its canary's), so that another CPU does not matter
// much. On a GPU rows are compared in time, among machines of one model; there a canary says
// whether the machine is as fast as it was, and a row may do without.
struct Canary {
  CanaryKind kind = CanaryKind::memory;
  double median_ns = 0;

  friend bool operator==(const Canary&, const Canary&) = default;
};

// One row of a timing table. Times in nanoseconds.
struct TimingRow {
  RowKey key;
  double median_ns = 0;
  Interval ci_ns; // 99 %, of the median; low <= median <= high
  std::vector<double> process_medians_ns;
  std::optional<Canary> canary; // written "<kind>:<median_ns>"
  double tol_pct = 0;           // the slow-down that is still no regression, in percent of the time
  Status status = Status::gate;
  double bytes = 0;     // that the row must move
  double flops = 0;     // that it must compute
  std::string identity; // as Measured::identity (result.h)
  std::string why;      // the reason given when the row was blessed
  std::size_t line = 0; // where it was read; 0 for one that was not

  friend bool operator==(const TimingRow&, const TimingRow&) = default;
};

// What a baseline file holds. One that is not there is no problem where the device has not been
// blessed, or not for this op.
struct TimingFile {
  std::string path;
  bool exists = false;
  std::vector<TimingRow> rows;   // sorted by key; without those that have a problem
  std::vector<Problem> problems; // any of them makes the file useless as a judge
  // It is not there, though the device is blessed and device.json does not name the op among those
  // that are not: a deleted file must not switch its gate off.
  bool missing = false;
};

// Reads <op>.csv: the file's name says which op its cases must belong to.
TimingFile load_timings(const std::filesystem::path& path, Device device);

// The same for contents that are at hand.
TimingFile parse_timings(std::string_view contents, const std::string& path, Device device);

// Writes the rows sorted and whole (atomic_file.h). Throws kg::Error, and writes nothing, if
// load_timings would refuse the result.
void save_timings(const std::filesystem::path& path, const std::vector<TimingRow>& rows,
                  Device device);
std::string format_timings(const std::vector<TimingRow>& rows);

// Whether a baseline's row belongs to nothing that is `registered`. Rows for information only,
// which vendors' are, belong to their case: what a library offers depends on its version.
bool is_orphan(const TimingRow& row, const std::set<RowKey>& registered);

} // namespace kg::judge
