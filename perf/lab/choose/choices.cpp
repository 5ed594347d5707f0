// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/choose/choices.h"

#include "perf/format/units.h"
#include "runtime/error.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <sstream>

namespace kg::choose {
namespace {

constexpr std::string_view kHeader =
    "// Copyright The Kernelgrade Authors\n"
    "// SPDX-License-Identifier: Apache-2.0\n"
    "//\n"
    "// Written by `kernelgrade choose` from measured times: do not edit, measure again.\n";

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// "m64_n32_k8_nn" as `{.m = 64, .n = 32, .k = 8}, "nn"`.
std::string initialisers(std::string_view shape) {
  std::vector<std::string> fields, words;
  std::istringstream stream{std::string(shape)};
  for (std::string token; std::getline(stream, token, '_');) {
    const bool is_field = token.size() > 1 && !is_digit(token[0]) &&
                          std::all_of(token.begin() + 1, token.end(), is_digit);
    if (is_field)
      fields.push_back(fmt::format(".{} = {}", token[0], token.substr(1)));
    else
      words.push_back(token);
  }
  return fmt::format("{{{}}}, \"{}\"", fmt::join(fields, ", "), fmt::join(words, "_"));
}

std::string device_of(std::string_view line) { return std::string(line.substr(0, line.find(','))); }

} // namespace

std::vector<std::string> lines(const judge::Results& run, std::string_view op, judge::Mode mode) {
  const auto device = run.environment.find("device");
  require(device != run.environment.end(),
          "the files do not say on which device they were measured; measure again");
  std::map<std::string, std::vector<const judge::Measured*>> cases;
  for (const judge::Measured& row : run.rows)
    if (row.op == op && row.key.mode == mode && row.kind == judge::Kind::ours &&
        !row.samples_ns.empty() && row.verified.empty())
      cases[row.key.case_id].push_back(&row);
  require(!cases.empty(), fmt::format("the files hold no right result of {} in mode {}: measure "
                                      "with kernelgrade run --op {} --mode {} --json FILE",
                                      op, name(mode), op, name(mode)));
  std::vector<std::string> result;
  for (auto& [id, rows] : cases) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto* a, const auto* b) { return a->median_ns < b->median_ns; });
    std::vector<std::string> times;
    for (const judge::Measured* row : rows)
      times.push_back(fmt::format("{} {}", row->key.variant, judge::time_text(row->median_ns)));
    const std::string dtype(judge::dtype_of(id));
    result.push_back(fmt::format("{{\"{}\", Dtype::{}, {}, Variant::{}}}, // {}", device->second,
                                 dtype, initialisers(id.substr(op.size() + dtype.size() + 2)),
                                 rows.front()->key.variant, fmt::join(times, ", ")));
  }
  return result;
}

std::string with_lines(std::string_view table, const std::vector<std::string>& lines) {
  std::vector<std::string> all = lines;
  std::istringstream stream{std::string(table)};
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with('{') && device_of(line) != device_of(lines.at(0))) all.push_back(line);
  std::sort(all.begin(), all.end());
  return fmt::format("{}{}\n", kHeader, fmt::join(all, "\n"));
}

} // namespace kg::choose
