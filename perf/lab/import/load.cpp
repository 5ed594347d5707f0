// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/import/load.h"

#include "perf/format/json_reader.h"
#include "perf/lab/import/formats.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>

namespace kg::imports {
namespace {

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string sanitised(std::string_view text, std::string_view also) {
  std::string word;
  for (const char c : text) {
    if (is_word(c) || also.find(c) != also.npos)
      word += c;
    else if (!word.empty() && word.back() != '_')
      word += '_';
  }
  while (word.ends_with('_')) word.pop_back();
  return word;
}

[[noreturn]] void unknown_format(const std::string& file) {
  throw Error(fmt::format("{}:1: unknown format; give results of `kernelgrade "
                          "run --json`, NVBench's --json, Google Benchmark's "
                          "--benchmark_out_format=json or the CUTLASS profiler's --output=<csv>",
                          file));
}

judge::Results from_json(const std::string& contents, const std::filesystem::path& path) {
  const nlohmann::json root = judge::parse_json(contents, path.string());
  if (root.contains("benchmarks") && root.contains("context"))
    return from_google_benchmark(root, path);
  if (root.contains("benchmarks") && root.contains("devices")) return from_nvbench(root, path);
  if (!root.contains("schema")) unknown_format(path.string());
  return judge::results_from_json(contents, path.string());
}

} // namespace

std::string id_word(std::string_view text) { return sanitised(text, ""); }
std::string id_parameters(std::string_view text) { return sanitised(text, "."); }

judge::Measured imported_row(std::string_view op, std::string_view dtype,
                             std::string_view parameters, judge::Mode mode) {
  const auto or_else = [](std::string word, const char* otherwise) {
    return word.empty() ? std::string(otherwise) : word;
  };
  judge::Measured row;
  row.op = or_else(id_word(op), "unnamed");
  row.dtype = or_else(id_word(dtype), "any");
  row.key.case_id =
      fmt::format("{}.{}.{}", row.op, row.dtype, or_else(id_parameters(parameters), "all"));
  row.key.variant = "imported";
  row.key.mode = mode;
  row.category = "imported";
  return row;
}

void add_row(judge::Results& run, judge::Measured row, const std::string& where) {
  if (std::any_of(run.rows.begin(), run.rows.end(),
                  [&](const judge::Measured& other) { return other.key == row.key; }))
    throw Error(
        fmt::format("{}: it has the id of an earlier row, {}; keep one of them, or give them "
                    "names that differ in letters or digits",
                    where, judge::text(row.key)));
  run.rows.push_back(std::move(row));
}

judge::Results load_any(const std::filesystem::path& path) {
  const std::optional<std::string> contents = read_file(path);
  if (!contents) throw Error(path.string() + ": no such file; measure with --json first");
  const std::size_t first = contents->find_first_not_of(" \t\r\n");
  if (first == contents->npos) unknown_format(path.string());
  if ((*contents)[first] == '{') return from_json(*contents, path);
  const judge::Csv csv = judge::read_csv(*contents, path.string());
  if (!csv.problems.empty()) throw Error(judge::text(csv.problems.front()));
  const std::vector<std::string>& header = csv.records.front().fields;
  if (std::find(header.begin(), header.end(), "Disposition") == header.end())
    unknown_format(path.string());
  return from_cutlass(csv, path);
}

} // namespace kg::imports
