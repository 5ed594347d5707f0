// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The options that select rows.
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

// A filter as given on the command line; a case stands for its op, dtype and shape, a model for the
// cases of one of its layers.
struct FilterWords {
  Filter filter;
  std::vector<std::string> cases;
  std::vector<std::string> models;
};

// An option whose word is a comma-separated list: the next word may be a file.
CLI::Option* add_word_list(CLI::App& app, const char* name, std::vector<std::string>& into,
                           const char* text);

void add_filter(CLI::App& app, FilterWords& words);

// Rejects a list with an empty part, which CLI11 ignores: `--op a,` would select a alone.
void require_whole_lists(const CLI::App& command, const std::vector<std::string>& arguments);

// One filter, or one per case, or per case of a model. Throws UsageError.
std::vector<Filter> filters_of(const FilterWords& words);

// The filters of a file, one per line; skips empty lines and lines that begin with '#'. Throws
// UsageError with file and line.
std::vector<Filter> read_batch(const std::filesystem::path& path);

} // namespace kg::cli
