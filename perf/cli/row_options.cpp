// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/row_options.h"

#include "perf/lab/layers/layers.h"
#include "runtime/atomic_file.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <sstream>

namespace kg::cli {
namespace {

void require_in_filter(const std::vector<std::string>& words, const std::string& word,
                       const char* option, const std::string& id) {
  if (!words.empty() && std::find(words.begin(), words.end(), word) == words.end())
    throw UsageError(fmt::format("--case {} contradicts {}", id, option));
}

bool admits(const std::vector<std::string>& words, const std::string& word) {
  return words.empty() || std::find(words.begin(), words.end(), word) != words.end();
}

// The problems of a layer; --op selects among them, --dtype replaces the model's type.
std::vector<Filter> filters_of_models(const FilterWords& words) {
  std::vector<std::string> dtypes = words.filter.dtypes;
  if (dtypes.empty()) dtypes = {""};
  std::vector<Filter> filters;
  for (const std::string& name : words.models)
    for (const std::string& dtype : dtypes)
      for (const layers::Problem& problem :
           layers::layer_of(layers::model_named(name), layers::usual_load(), dtype)) {
        if (!admits(words.filter.ops, problem.op)) continue;
        Filter filter = words.filter;
        filter.ops = {problem.op};
        filter.dtypes = {problem.dtype};
        filter.shapes = {problem.shape};
        filters.push_back(filter);
      }
  if (filters.empty())
    throw UsageError(fmt::format("--model {}: a layer of it has no {}",
                                 fmt::join(words.models, ","), fmt::join(words.filter.ops, ",")));
  return filters;
}

} // namespace

CLI::Option* add_word_list(CLI::App& app, const char* name, std::vector<std::string>& into,
                           const char* text) {
  return app.add_option(name, into, text)->delimiter(',')->allow_extra_args(false);
}

void add_filter(CLI::App& app, FilterWords& words) {
  const auto list = [&](const char* name, std::vector<std::string>& into, const char* text) {
    add_word_list(app, name, into, text)->group(kRows);
  };
  Filter& filter = words.filter;
  list("--op", filter.ops, "operations, such as gemm,softmax");
  list("--category", filter.categories, "categories, such as matmul");
  list("--dtype", filter.dtypes, "data types, such as f32,f16");
  list("--shape", filter.shapes,
       "shapes as in a case's id, such as rows64_cols1024; `run` also takes unlisted ones");
  list("--case", words.cases, "cases by id, such as softmax.f32.rows64_cols1024");
  list("--model", words.models,
       "all operations of one layer of a language model, such as qwen2.5-0.5b (only `run`)");
  for (const char* const other : {"--category", "--shape", "--case"})
    app.get_option("--model")->excludes(app.get_option(other));
  list("--variant", filter.variants, "variants, such as naive,cublas");
  list("--mode", filter.modes,
       "modes: cold (device time, L2 flushed), hot (warm L2), graph (node of a CUDA graph), real "
       "(wall-clock time)");
  app.add_flag("--fast", filter.fast, "only the pre-merge subset")->group(kRows);
}

void require_whole_lists(const CLI::App& command, const std::vector<std::string>& arguments) {
  const CLI::Option* option = nullptr;
  std::string name;
  for (const std::string& argument : arguments) {
    std::string list = argument;
    if (argument.starts_with("--")) {
      const std::size_t equals = std::min(argument.find('='), argument.size());
      name = argument.substr(0, equals);
      option = command.get_option_no_throw(name);
      list = equals < argument.size() ? argument.substr(equals + 1) : "";
    }
    if (!option || option->get_delimiter() != ',') continue;
    if (list.starts_with(',') || list.ends_with(',') || list.find(",,") != list.npos)
      throw UsageError(
          fmt::format("{} {}: a part of the list is empty; give it, or leave it out", name, list));
  }
}

std::vector<Filter> filters_of(const FilterWords& words) {
  if (!words.models.empty()) {
    try {
      return filters_of_models(words);
    } catch (const UsageError&) {
      throw;
    } catch (const Error& error) {
      throw UsageError(fmt::format("--model: {}", error.what()));
    }
  }
  if (words.cases.empty()) return {words.filter};
  std::vector<Filter> filters;
  for (const std::string& id : words.cases) {
    const std::string op(judge::op_of(id)), dtype(judge::dtype_of(id));
    const std::size_t prefix = op.size() + dtype.size() + 2;
    if (op.empty() || dtype.empty() || id.size() <= prefix)
      throw UsageError(fmt::format(
          "--case {}: a case is <op>.<dtype>.<shape>, as in softmax.f32.r64_c1024", id));
    require_in_filter(words.filter.ops, op, "--op", id);
    require_in_filter(words.filter.dtypes, dtype, "--dtype", id);
    require_in_filter(words.filter.shapes, id.substr(prefix), "--shape", id);
    Filter filter = words.filter;
    filter.ops = {op};
    filter.dtypes = {dtype};
    filter.shapes = {id.substr(prefix)};
    filters.push_back(filter);
  }
  return filters;
}

std::vector<Filter> read_batch(const std::filesystem::path& path) {
  const std::optional<std::string> contents = read_file(path);
  if (!contents) throw UsageError(fmt::format("--batch {}: no such file", path.string()));
  std::vector<Filter> filters;
  std::istringstream lines(*contents);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == line.npos || line.front() == '#') continue;
    CLI::App app;
    FilterWords words;
    add_filter(app, words);
    try {
      app.parse(line);
      require_whole_lists(app, CLI::detail::split_up(line));
      for (Filter& filter : filters_of(words)) filters.push_back(std::move(filter));
    } catch (const CLI::ParseError& error) {
      throw UsageError(fmt::format("{}:{}: {}; a line holds options that choose rows, as in --op "
                                   "gemm --dtype f32",
                                   path.string(), number, error.what()));
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}:{}: {}", path.string(), number, error.what()));
    }
  }
  if (filters.empty())
    throw UsageError(fmt::format("--batch {}: it holds no line of options", path.string()));
  return filters;
}

} // namespace kg::cli
