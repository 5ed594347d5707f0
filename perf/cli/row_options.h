// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The options that choose rows.
#pragma once

#include "perf/cli/options.h"
#include "perf/format/help_page.h"

#include <filesystem>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace kg::cli {

// A filter as it stands on a command line; a case stands for its op, dtype and shape, a model for
// the cases of one of its layers.
struct FilterWords {
  Filter filter;
  std::vector<std::string> cases;
  std::vector<std::string> models;
};

// An option whose word is a list, by commas: what stands behind it may be a file.
CLI::Option* add_word_list(CLI::App& app, const char* name, std::vector<std::string>& into,
                           const char* text);

void add_filter(CLI::App& app, FilterWords& words);

// Refuses a list with an empty part, which CLI11 passes over: `--op a,` would choose a alone.
void require_whole_lists(const CLI::App& command, const std::vector<std::string>& arguments);

// One filter, or one per case, or per case of a model. Throws UsageError.
std::vector<Filter> filters_of(const FilterWords& words);

// Those of a file: one filter per line; empty lines and lines that begin with '#' are skipped.
// Throws UsageError with file and line.
std::vector<Filter> read_batch(const std::filesystem::path& path);

} // namespace kg::cli
