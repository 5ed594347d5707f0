// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Turning measured rows into baseline rows. A bless says what the gate will hold everyone to, so it
// refuses what it cannot vouch for, and changes nothing but the rows that it was given.
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
  std::string why; // required where a row that exists changes, above all where it becomes slower
  bool accept_bimodal = false; // bless the median of a row that has two modes
  // device.json's: the canaries that the other rows were blessed beside, by kind, and the ceilings.
  std::map<std::string, double> canaries_ns;
  std::map<std::string, double> ceilings;
  std::optional<Status> status;  // for the rows given; otherwise a row keeps its own
  std::optional<double> tol_pct; // likewise
  // With these, rows of the file that are not among them are removed. Must be all rows registered
  // for the op.
  std::optional<std::set<RowKey>> remove_orphans_beside;
};

enum class BlessAction { added, changed, unchanged, removed, refused };
std::string_view name(BlessAction action);

struct BlessEntry {
  RowKey key;
  BlessAction action = BlessAction::refused;
  double old_ns = 0;           // 0: there was no such row
  double new_ns = 0;           // 0: there is none any more
  std::optional<double> ratio; // old / new, on host in canary units
  std::string reason;          // of a refusal
};

// Whether the entries of a plan, of times or of exact quantities, ask for anything to be written,
// and whether any was refused.
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
  std::vector<TimingRow> rows;     // what the file is to hold
  std::vector<BlessEntry> entries; // what becomes of each row given or removed, sorted by key
  std::vector<std::string> faults; // why nothing may be written at all
  bool changes() const;            // there is something to write, and it may be written
  int exit_code() const;           // 1 if anything was refused, 0 otherwise
};

// Decides, and touches no file. All `measured` rows belong to `file`'s op. Refused rows stay as
// they were; the others are blessed.
BlessPlan plan_bless(const TimingFile& file, const std::vector<Measured>& measured,
                     const BlessOptions& options);

// Writes the plan's rows to `path`, unless nothing changes or nothing may be written.
void carry_out(const BlessPlan& plan, const std::filesystem::path& path, Device device);

// The entries as a table of old and new times for a terminal, then the faults.
std::string text(const BlessPlan& plan);

} // namespace kg::judge
