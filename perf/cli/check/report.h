// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The verdict on a program, as text and as files.
#pragma once

#include "perf/cli/check/program.h"
#include "perf/code/cost/advice.h"

#include <optional>
#include <string>
#include <vector>

namespace kg::program {

struct Verdict {
  double compile_seconds = 0;
  std::vector<Run> runs;
  std::optional<std::vector<count::Launch>> costs;
  std::vector<cost::Advice> advice; // if costs were counted

  // Of all runs, each text once; failures first.
  std::vector<Finding> findings() const;
  coverage::Notes notes() const;
  std::string failure() const; // of the first run that has one
  bool passed() const;
};

std::string text_of(const Verdict& verdict, const Options& options);
std::string json_of(const Verdict& verdict, const Options& options);

// SARIF 2.1.0 (OASIS, 27 March 2020). File names are relative to `root`, which readers of the file
// take for the source folder.
std::string sarif_of(const Verdict& verdict, const std::filesystem::path& root);

} // namespace kg::program
