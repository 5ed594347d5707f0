// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which of our variants is the fastest at which size, where that changes, and whether `automatic`
// takes it. A sweep is the cases of an operation, type and mode whose shapes differ in their
// numbers alone, by the bytes that a case must move, or the operations where those are what counts
// (rows.h).
#pragma once

#include "perf/judge/result.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kg::report {

// A case of a sweep.
struct SweepPoint {
  std::string case_id;
  double size = 0;
  std::string fastest;              // of ours, the least median
  std::vector<std::string> as_fast; // that cannot be told from it: the 99 % intervals overlap
  std::string automatic;            // what `automatic` takes; empty: the rows do not say
  // How much longer than the fastest one it takes; 0 where it is that one or as fast. None where
  // its choice is not known or has no time, and on the host: `automatic` chooses for GPUs.
  std::optional<double> loss_pct;
};

// From one size to the next the fastest variant is another.
struct SweepChange {
  std::string before;
  std::string after;
  double from = 0; // the two sizes
  double to = 0;
  // Where the two variants' lines cross, on logarithmic axes. None where `reason` says why that is
  // not known: the one must surely be the faster at `from`, the other at `to`.
  std::optional<double> size;
  std::string reason;
};

struct Sweep {
  std::string op;
  std::string dtype;
  std::string mode;
  std::string shape; // the cases' without op and type, '#' for their numbers: "rows#_cols#"
  std::string unit;  // "bytes" or "flops"
  std::vector<SweepPoint> points;   // ascending in size, then by case
  std::vector<SweepChange> changes; // ascending
};

// Of the rows of ours that have a time and a size, in their order.
std::vector<Sweep> sweeps(const judge::Results& run);

nlohmann::json json(const std::vector<Sweep>& sweeps);

// "Which variant at which size": the changes, the cases in which `automatic` takes a slower
// variant, with its loss, and how many sweeps have neither. Empty where there are no sweeps.
std::string markdown(const std::vector<Sweep>& sweeps);

} // namespace kg::report
