// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns measured rows into baseline rows. The gate holds every later run to them, so unsound
// measurements are refused, and only the given rows change.
#pragma once

#include "perf/judge/baseline.h"
#include "perf/judge/result.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kg::judge {

struct BlessOptions {
  Device device = Device::host;
  std::string why;             // required if an existing row changes
  bool accept_bimodal = false; // accept rows whose process medians form two clusters
  // From device.json: the canary times of the other rows, by kind, and the ceilings.
  std::map<std::string, double> canaries_ns;
  std::map<std::string, double> ceilings;
  std::optional<Status> status;  // of the given rows; otherwise a row keeps its status
  std::optional<double> tol_pct; // likewise
  // If set: removes every row of the file outside this set, which must hold all rows registered for
  // the operation.
  std::optional<std::set<RowKey>> remove_orphans_beside;
};

enum class BlessAction { added, changed, unchanged, removed, refused };
std::string_view name(BlessAction action);

struct BlessEntry {
  RowKey key;
  BlessAction action = BlessAction::refused;
  double old_ns = 0;           // 0: new row
  double new_ns = 0;           // 0: removed row
  std::optional<double> ratio; // old / new, on the host in canary units
  std::string reason;          // of the refusal
};

// Whether any entry of a plan (for timings or exact quantities) needs writing, and whether any was
// refused.
template <class Entry>
bool any_write(const std::vector<Entry>& entries) {
  return std::any_of(entries.begin(), entries.end(), [](const Entry& entry) {
    return entry.action != BlessAction::unchanged && entry.action != BlessAction::refused;
  });
}
template <class Entry>
bool any_refused(const std::vector<Entry>& entries) {
  return std::any_of(entries.begin(), entries.end(),
                     [](const Entry& entry) { return entry.action == BlessAction::refused; });
}

struct BlessPlan {
  std::vector<TimingRow> rows;     // the new contents of the file
  std::vector<BlessEntry> entries; // one per given or removed row, sorted by key
  std::vector<std::string> faults; // reasons to write nothing at all
  bool changes() const;            // there is something to write, and nothing forbids it
  int exit_code() const;           // 1 if anything was refused, 0 otherwise
};

// Plans without touching any file. All `measured` rows must belong to the operation of `file`.
// Refused rows keep their old values; the others are blessed.
BlessPlan plan_bless(const TimingFile& file, const std::vector<Measured>& measured,
                     const BlessOptions& options);

// Writes the plan to `path` if plan.changes().
void carry_out(const BlessPlan& plan, const std::filesystem::path& path, Device device);

// A table of old and new times for the terminal, followed by the faults.
std::string text(const BlessPlan& plan);

} // namespace kg::judge
