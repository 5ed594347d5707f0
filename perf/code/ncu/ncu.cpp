// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/ncu/ncu.h"

#include "perf/format/csv.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <optional>

namespace kg::hardware {
namespace {

// Columns that describe a launch; all others are metrics.
constexpr std::string_view kKernel = "Kernel Name", kGrid = "Grid Size", kBlock = "Block Size";
constexpr std::string_view kDescriptions[] = {
    "ID",   "Process ID", "Process Name", "Host Name", kKernel,        "Context",  "Stream",
    kBlock, kGrid,        "Device",       "CC",        "Section Name", "Rule Name"};

bool is_metric(std::string_view column) {
  return std::find(std::begin(kDescriptions), std::end(kDescriptions), column) ==
         std::end(kDescriptions);
}

// "1,048,576" with or without the commas.
std::optional<double> number(std::string text) {
  std::erase(text, ',');
  return judge::parse_number(text);
}

// "(64, 1, 1)"
std::array<unsigned, 3> extent(const std::string& text, const std::string& where) {
  std::array<unsigned, 3> size{};
  if (std::sscanf(text.c_str(), "(%u, %u, %u)", &size[0], &size[1], &size[2]) != 3)
    throw Error(
        fmt::format("{}: '{}' is not a size of a grid or block; write it anew with ncu --csv "
                    "--page raw",
                    where, text));
  return size;
}

std::size_t column(const std::vector<std::string>& header, std::string_view name,
                   const std::string& file) {
  const auto at = std::find(header.begin(), header.end(), name);
  if (at == header.end())
    throw Error(fmt::format("{}: no column '{}'; write it with ncu --csv --page raw", file, name));
  return static_cast<std::size_t>(at - header.begin());
}

} // namespace

std::vector<Launch> parse_ncu(std::string_view contents, const std::string& file) {
  // ncu's own messages come first. Line numbers of the table stay those of the file.
  const std::size_t before = contents.starts_with("\"ID\"") ? 0 : contents.find("\n\"ID\"") + 1;
  if (before == 0 && !contents.starts_with("\"ID\""))
    throw Error(fmt::format("{}: no table in it; did ncu profile a kernel?", file));
  const std::string_view table = contents.substr(before);
  const auto said =
      static_cast<std::size_t>(std::count(contents.begin(), contents.end() - table.size(), '\n'));
  const judge::Csv csv = judge::read_csv(table, file);
  if (!csv.problems.empty()) throw Error(judge::text(csv.problems));
  const std::vector<std::string>& header = csv.records.front().fields;
  const std::size_t kernel = column(header, kKernel, file), grid = column(header, kGrid, file),
                    block = column(header, kBlock, file);
  std::vector<Launch> launches;
  for (std::size_t r = 1; r < csv.records.size(); ++r) {
    const judge::CsvRecord& record = csv.records[r];
    const std::string where = fmt::format("{}:{}", file, said + record.line);
    if (record.fields.size() != header.size())
      throw Error(fmt::format("{}: {} fields under a header of {}; was ncu interrupted?", where,
                              record.fields.size(), header.size()));
    if (record.fields[0].empty()) continue; // units
    Launch launch{record.fields[kernel],
                  extent(record.fields[grid], where),
                  extent(record.fields[block], where),
                  {}};
    for (std::size_t c = 0; c < header.size(); ++c) {
      if (!is_metric(header[c])) continue;
      if (const auto value = number(record.fields[c])) launch.metrics[header[c]] = *value;
    }
    launches.push_back(std::move(launch));
  }
  return launches;
}

std::vector<Launch> read_ncu(const std::filesystem::path& path) {
  const std::optional<std::string> contents = read_file(path);
  if (!contents) throw Error(fmt::format("{}: no such file", path.string()));
  return parse_ncu(*contents, path.string());
}

std::string own_name(std::string_view kernel) {
  std::string name(kernel);
  constexpr std::string_view kUnnamed[] = {"(anonymous namespace)::", "<unnamed>::"};
  for (const std::string_view unnamed : kUnnamed)
    for (std::size_t at; (at = name.find(unnamed)) != std::string::npos;)
      name.erase(at, unnamed.size());
  name.resize(std::min(name.find_first_of("<("), name.size()));
  const std::size_t last = name.find_last_of(": ");
  return last == std::string::npos ? name : name.substr(last + 1);
}

} // namespace kg::hardware
