// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns counted rows into baseline rows; bless.h does the same for timings.
#pragma once

#include "perf/judge/bless.h"
#include "perf/judge/exact_gate.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kg::judge {

struct ExactBlessOptions {
  std::string why;             // required if a gated row becomes worse
  bool remove_orphans = false; // remove rows that the run covers but did not measure
};

struct ExactBlessEntry {
  std::vector<std::string> key;
  BlessAction action = BlessAction::refused;
  std::string changes; // "old -> new" of each changed quantity
  std::string reason;  // of the refusal
};

struct ExactBlessPlan {
  std::vector<ExactRow> rows;           // the new contents of the file
  std::vector<ExactBlessEntry> entries; // one per measured or removed row, sorted by key
  std::vector<std::string> faults;      // reasons to write nothing at all
  bool changes() const;                 // there is something to write, and nothing forbids it
  int exit_code() const;                // 1 if anything was refused, 0 otherwise
};

// Plans without touching any file. Refused rows keep their old values.
ExactBlessPlan plan_exact_bless(const ExactTable& table, const std::vector<ExactMeasured>& measured,
                                const ExactFile& baseline, const Covers& covers,
                                const ExactBlessOptions& options);

// Writes the plan to `path` if plan.changes().
void carry_out(const ExactTable& table, const ExactBlessPlan& plan,
               const std::filesystem::path& path);

// A table of the changes for the terminal, followed by the faults.
std::string text(const ExactBlessPlan& plan);

} // namespace kg::judge
