// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares rows of two builds in at most two looks. A row decided at the first look is not measured
// for the second.
#pragma once

#include "perf/judge/confirm.h"
#include "perf/judge/row.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kg::ab {

struct Builds {
  std::filesystem::path reference; // A
  std::filesystem::path control;   // a copy of A
  std::filesystem::path subject;   // B
};

struct Candidate {
  judge::RowKey key;
  double tol_pct = 2; // the largest slow-down that is not a regression, in percent
};

struct CompareOptions {
  std::size_t pairs = 40; // at the second look; the first look has 30 % of them
  unsigned seed = 1;      // for the order of the arms
  std::function<void(const std::string&)> progress;           // one line per round; may be empty
  std::function<std::shared_ptr<void>()> exclusive = nullptr; // as in RoundOptions
};

struct ComparedRow {
  judge::RowKey key;
  judge::PairedTimes times;
  std::optional<judge::Confirmation> found;
  std::string problem; // why nothing was found; otherwise empty
  bool wrong = false;  // build B caused the problem: a wrong result or a crash
  // The machine's state as recorded by the last process of A and of B.
  std::map<std::string, std::string> tags_a;
  std::map<std::string, std::string> tags_b;
};

// Rows are returned in the order of `rows`. Throws kg::Error if a build cannot be started.
std::vector<ComparedRow> compare_builds(const Builds& builds, const std::vector<Candidate>& rows,
                                        const CompareOptions& options);

} // namespace kg::ab
