// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of one build against the same rows of another, in two looks: what is decided at the first is
// not measured for the second.
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
  double tol_pct = 2; // the slow-down that is still no regression, in percent
};

struct CompareOptions {
  std::size_t pairs = 40; // at the second look; the first has three in ten of them
  unsigned seed = 1;      // of the orders
  std::function<void(const std::string&)> progress;           // one line per round; may be empty
  std::function<std::shared_ptr<void>()> exclusive = nullptr; // as in RoundOptions
};

struct ComparedRow {
  judge::RowKey key;
  judge::PairedTimes times;
  std::optional<judge::Confirmation> found;
  std::string problem; // where nothing is found: why
  bool wrong = false;  // the problem is B's: a wrong result, or the end of its process
  // What the last process of A and of B saw of the machine.
  std::map<std::string, std::string> tags_a;
  std::map<std::string, std::string> tags_b;
};

// In the order of `rows`. Throws kg::Error where a build cannot be started at all.
std::vector<ComparedRow> compare_builds(const Builds& builds, const std::vector<Candidate>& rows,
                                        const CompareOptions& options);

} // namespace kg::ab
