// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which of our variants is fastest at which size, where that changes, and whether `automatic`
// selects it. A sweep contains the cases of an operation, type and mode whose shapes differ only in
// their numbers. Its size axis is the minimum traffic in bytes, or the flops of compute-bound
// operations (rows.h).
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
  std::string fastest;              // our variant with the lowest median
  std::vector<std::string> as_fast; // its equals: their 99 % intervals overlap
  std::string automatic;            // the variant that `automatic` selects; empty: unknown
  // How much longer than the fastest variant `automatic` takes; 0 if equal. Empty if its choice is
  // unknown or has no time, and on the host, since `automatic` chooses for GPUs.
  std::optional<double> loss_pct;
};

// The fastest variant changes between two neighbouring sizes.
struct SweepChange {
  std::string before;
  std::string after;
  double from = 0; // the two sizes
  double to = 0;
  // Where the two variants' lines cross, on logarithmic axes. Requires that `before` is
  // significantly faster at `from` and `after` at `to`. Otherwise empty, and `reason` says why.
  std::optional<double> size;
  std::string reason;
};

struct Sweep {
  std::string op;
  std::string dtype;
  std::string mode;
  std::string shape;                // of the case ids, with '#' for numbers: "rows#_cols#"
  std::string unit;                 // "bytes" or "flops"
  std::vector<SweepPoint> points;   // by size, then by case
  std::vector<SweepChange> changes; // by size
};

// Sweeps over our rows that have a time and a size, in their order.
std::vector<Sweep> sweeps(const judge::Results& run);

nlohmann::json json(const std::vector<Sweep>& sweeps);

// "Which variant at which size": the changes, the cases in which `automatic` selects a slower
// variant with the loss, and the number of sweeps with neither. Empty if there are no sweeps.
std::string markdown(const std::vector<Sweep>& sweeps);

} // namespace kg::report
