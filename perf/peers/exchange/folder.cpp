// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/peers/exchange/folder.h"

#include "perf/format/named_path.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace kg::exchange {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json to_json(const std::vector<perf::ExchangedTensor>& tensors) {
  json list = json::array();
  for (const perf::ExchangedTensor& each : tensors)
    list.push_back({{"name", each.name},
                    {"dtype", kg::name(each.dtype)},
                    {"extents", each.extents},
                    {"optional", each.optional}});
  return list;
}

json to_json(const Given& given, const std::map<std::string, std::string>& environment) {
  const judge::Measured& row = given.row;
  judge::Measured unfinished = row;
  unfinished.verified = "its measurement did not end";
  return {{"case", row.key.case_id},
          {"op", row.op},
          {"dtype", row.dtype},
          {"shape", row.key.case_id.substr(row.op.size() + row.dtype.size() + 2)},
          {"inputs", to_json(given.exchange.inputs)},
          {"outputs", to_json(given.exchange.outputs)},
          {"scalars", given.exchange.scalars},
          {"begins", json::parse(judge::to_json({environment, {unfinished}}))}};
}

perf::ResultBytes read_results(const fs::path& folder) {
  perf::ResultBytes results;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    std::vector<std::byte>& bytes = results[entry.path().filename().string()];
    bytes.resize(entry.file_size());
    std::ifstream file(entry.path(), std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(bytes.data()), std::ssize(bytes)))
      throw Error(entry.path().string() + ": it cannot be read");
  }
  return results;
}

// The folders of the variant's results, in the order of its runs.
std::vector<fs::path> times_of(const fs::path& folder, const judge::RowKey& key) {
  const fs::path results = judge::named_path(
      judge::named_path(folder / "results", "variant", key.variant), "case", key.case_id);
  std::vector<fs::path> times;
  if (fs::is_directory(results))
    for (const fs::directory_entry& entry : fs::directory_iterator(results))
      times.push_back(entry.path());
  std::sort(times.begin(), times.end());
  return times;
}

} // namespace

void write_cases(const fs::path& folder, const std::map<std::string, std::string>& environment,
                 const std::vector<Given>& cases) {
  json list = json::array();
  for (const Given& given : cases) {
    const fs::path inputs = judge::named_path(folder / "inputs", "case", given.row.key.case_id);
    const perf::InputBytes bytes_of = given.exchange.make_inputs();
    for (const perf::ExchangedTensor& input : given.exchange.inputs) {
      const std::vector<std::byte> bytes = bytes_of(input.name);
      write_file(judge::named_path(inputs, "input", input.name),
                 {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
    list.push_back(to_json(given, environment));
  }
  write_file(folder / "cases.json", json{{"cases", list}}.dump(1) + "\n");
}

std::string verify(const fs::path& folder, const judge::RowKey& key,
                   const perf::Exchange& exchange) {
  const std::vector<fs::path> times = times_of(folder, key);
  if (times.empty()) return "it left no result";
  perf::ResultBytes right; // most runs give identical bits
  for (const fs::path& time : times) {
    perf::ResultBytes results = read_results(time);
    if (results == right) continue;
    if (const std::string wrong = exchange.verify(results); !wrong.empty()) return wrong;
    right = std::move(results);
  }
  return "";
}

std::map<std::string, std::string> shown(const fs::path& folder, const judge::RowKey& key,
                                         const perf::Exchange& exchange) {
  const std::vector<fs::path> times = times_of(folder, key);
  if (!exchange.shown || times.empty()) return {};
  return exchange.shown(read_results(times.front()));
}

} // namespace kg::exchange
