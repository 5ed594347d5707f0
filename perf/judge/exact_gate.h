// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gate of quantities without noise. Equal passes, worse by any amount fails, better asks to be
// blessed, and a count below its minimum is invalid. Pure; fails closed like judge::judge.
#pragma once

#include "perf/judge/bands.h"
#include "perf/judge/exact_table.h"
#include "perf/judge/verdict.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kg::judge {

struct ExactOptions {
  bool strict = false; // KERNELGRADE_STRICT: a test that would be skipped fails
  std::string again;   // the command that repeats the judgement, "kernelgrade cost"
  std::string bless;   // the command that blesses, "kernelgrade cost --bless"
  // The counts come from a compiler without baselines, while another compiler has some: not judged
  // (77).
  bool unknown_compiler = false;
};

enum class ExactCause { fault, not_a_number, below_minimum, malformed, unblessed, compared };

struct ExactVerdict {
  std::vector<std::string> key;
  Verdict verdict = Verdict::invalid; // pass, improved, regressed, unblessed or invalid
  ExactCause cause = ExactCause::fault;
  bool informs = false;         // informational: never fails
  bool changed = false;         // any quantity changed, informational ones included
  std::vector<double> baseline; // the blessed values; empty without a baseline row
  // baseline / measured (cost_ratio) of the worst quantity; empty without a baseline row.
  std::optional<double> ratio;
  std::optional<Grade> grade;
  int exit_code = kExitFail;
  // Filled in by exact_wording.h after judging.
  std::string reason;  // old -> new, where, hint
  std::string again;   // the command that measures and judges the row again
  std::string message; // row, verdict, reason, command, and how to accept the value
};

struct ExactResult {
  std::vector<ExactVerdict> rows;  // in the order measured
  std::vector<std::string> faults; // of files and of the run; any of them fails the gate
  int exit_code = kExitFail;
};

// Which rows of a baseline file the run must have measured; other rows are ignored. An empty
// function selects all.
using Covers = std::function<bool(const ExactRow& baseline)>;

// Exit code: 1 if any row fails, there is a fault, or there are no rows; otherwise exit_of_rows().
ExactResult judge_exact(const ExactTable& table, const std::vector<ExactMeasured>& measured,
                        const ExactFile& baseline, const Covers& covers,
                        const ExactOptions& options);

struct ExactChange {
  const Quantity* quantity; // of the table
  double before = 0, after = 0;
  bool worse = false;
};

// Compares `now` with `old`, in the precision of the file. exact_wording.h describes the changes.
struct ExactComparison {
  std::vector<ExactChange> changes; // in the order of the table
  bool worse = false;
  bool better = false;
  double ratio = 1; // of the worst quantity
};
ExactComparison compare_exact(const ExactTable& table, const ExactRow& old, const ExactRow& now);

// For the terminal: the messages of all changed or failing rows (only the first unblessed one), the
// faults, the counts of verdicts and the exit code.
std::string plain_text(const ExactResult& result);

} // namespace kg::judge
