// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gate of quantities without noise: equal passes, worse by anything fails, better asks to be
// blessed; a count below its minimum is no improvement but invalid. Pure, and it fails closed like
// judge::judge.
#pragma once

#include "perf/judge/bands.h"
#include "perf/judge/exact_table.h"
#include "perf/judge/gate.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kg::judge {

struct ExactOptions {
  bool strict = false; // KERNELGRADE_STRICT: what would be skipped fails
  std::string again;   // the command that measures and judges again, "kernelgrade cost"
  std::string bless;   // the command that blesses, "kernelgrade cost --bless"
  // The counts are those of a compiler for which nobody has blessed any, though somebody has for
  // another: not judged (77).
  bool unknown_compiler = false;
};

struct ExactVerdict {
  std::vector<std::string> key;
  Verdict verdict = Verdict::invalid; // pass, improved, regressed, unblessed or invalid
  bool informs = false;               // whatever the verdict, the row fails nobody
  bool changed = false;               // some quantity, if only one that informs
  std::vector<double> baseline;       // the blessed values; empty where there is no baseline row
  // baseline / measured of the quantity that is worst off, by the rules of cost_ratio; only where
  // there is a baseline row.
  std::optional<double> ratio;
  std::optional<Grade> grade;
  int exit_code = kExitFail;
  std::string reason;  // old -> new, where, hint
  std::string again;   // the command that measures and judges it again
  std::string message; // the row, its verdict, both of these, and how to accept it
};

struct ExactResult {
  std::vector<ExactVerdict> rows;  // in the order measured
  std::vector<std::string> faults; // of files and of the run, each a failure by itself
  int exit_code = kExitFail;
};

// Which rows of a baseline file the run must have measured; the file's other rows are not looked
// at. An empty function: all of them.
using Covers = std::function<bool(const ExactRow& baseline)>;

// Exit code: 1 if any row fails, there is a fault, or there are no rows; else 0 if any row passes;
// else 77.
ExactResult judge_exact(const ExactTable& table, const std::vector<ExactMeasured>& measured,
                        const ExactFile& baseline, const Covers& covers,
                        const ExactOptions& options);

// How `now` stands against `old`. Values are compared as they are written. `hints`: by quantity,
// better ones than the table's.
struct ExactComparison {
  bool worse = false;
  bool better = false;
  double ratio = 1;    // of the quantity that is worst off
  std::string hint;    // of the first quantity that is worse, and of the others' own
  std::string changes; // "spill_bytes 0 -> 96, occupancy_pct 50 -> 37.5"; empty where none
};
ExactComparison compare_exact(const ExactTable& table, const ExactRow& old, const ExactRow& now,
                              const std::map<std::string, std::string>& hints = {});

// The messages of all rows but those that are as blessed (of unblessed ones the first), the faults,
// a count of verdicts and the exit code, for a terminal.
std::string plain_text(const ExactResult& result);

} // namespace kg::judge
