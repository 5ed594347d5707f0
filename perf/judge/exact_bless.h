// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Turning counted rows into baseline rows (bless.h does it for timings).
#pragma once

#include "perf/judge/bless.h"
#include "perf/judge/exact_gate.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kg::judge {

struct ExactBlessOptions {
  std::string why;             // required where a row that gates becomes worse
  bool remove_orphans = false; // rows that the run covers but did not measure
};

struct ExactBlessEntry {
  std::vector<std::string> key;
  BlessAction action = BlessAction::refused;
  std::string changes; // old -> new of each quantity that differs
  std::string reason;  // of a refusal
};

struct ExactBlessPlan {
  std::vector<ExactRow> rows;           // what the file is to hold
  std::vector<ExactBlessEntry> entries; // of each row measured or removed, sorted by key
  std::vector<std::string> faults;      // why nothing may be written at all
  bool changes() const;                 // there is something to write, and it may be written
  int exit_code() const;                // 1 if anything was refused, 0 otherwise
};

// Decides, and touches no file. Refused rows stay as they were.
ExactBlessPlan plan_exact_bless(const ExactTable& table, const std::vector<ExactMeasured>& measured,
                                const ExactFile& baseline, const Covers& covers,
                                const ExactBlessOptions& options);

// Writes the plan's rows to `path`, unless nothing changes or nothing may be written.
void carry_out(const ExactTable& table, const ExactBlessPlan& plan,
               const std::filesystem::path& path);

// The entries that change something as a table for a terminal, then the faults.
std::string text(const ExactBlessPlan& plan);

} // namespace kg::judge
