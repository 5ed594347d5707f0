// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The committed timings of one operation on one device: baselines/<gpu>/<op>.csv and
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

// The time of the canary kernel measured with a row. Required on the host, where rows are compared
// in canary units (row time / canary time), which makes them nearly independent of the CPU. On a
// GPU rows are compared in time, between GPUs of one model. There the canary is optional, and shows
// whether the machine has kept its speed.
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
  double tol_pct = 0;           // the tolerated slow-down, in percent of the time
  Status status = Status::gate;
  double bytes = 0;     // minimum traffic of the problem
  double flops = 0;     // arithmetic of the problem
  std::string identity; // as Measured::identity (result.h)
  std::string why;      // the reason given to `bless --why`
  std::size_t line = 0; // in the file; 0 if the row was not read from one

  friend bool operator==(const TimingRow&, const TimingRow&) = default;
};

// The contents of a baseline file. A missing file is a problem only if `missing` is set.
struct TimingFile {
  std::string path;
  bool exists = false;
  std::vector<TimingRow> rows;   // valid rows, sorted by key
  std::vector<Problem> problems; // any problem makes the file unusable for judging
  // The file does not exist, the device has baselines, and device.json does not list the operation
  // under not_blessed. Deleting a file must not disable its gate.
  bool missing = false;
};

// Reads <op>.csv. All cases in it must belong to that operation.
TimingFile load_timings(const std::filesystem::path& path, Device device);

// The same for contents in memory.
TimingFile parse_timings(std::string_view contents, const std::string& path, Device device);

// Writes the rows sorted, atomically (atomic_file.h). Throws kg::Error without writing if
// load_timings would refuse the result.
void save_timings(const std::filesystem::path& path, const std::vector<TimingRow>& rows,
                  Device device);
std::string format_timings(const std::vector<TimingRow>& rows);

// Whether the row belongs to nothing in `registered`. Informational rows, such as those of
// libraries, only need a registered case: their variants depend on the library's version.
bool is_orphan(const TimingRow& row, const std::set<RowKey>& registered);

} // namespace kg::judge
