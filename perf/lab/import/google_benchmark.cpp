// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The JSON of Google Benchmark 1.5 and later: `context`, and `benchmarks` with an entry for each
// repetition and each aggregate over repetitions.
#include "perf/lab/import/formats.h"

#include "perf/format/json_reader.h"
#include "runtime/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace kg::imports {
namespace {

std::optional<double> ns_per(std::string_view unit) {
  if (unit == "ns") return 1;
  if (unit == "us") return 1e3;
  if (unit == "ms") return 1e6;
  if (unit == "s") return 1e9;
  return std::nullopt;
}

// Splits "BM_add<float>/1024/threads:2" into op, template arguments and the rest.
judge::Measured row_named(std::string_view name) {
  const std::size_t op_end = std::min(name.find_first_of("</"), name.size());
  std::size_t at = op_end;
  if (at < name.size() && name[at] == '<') {
    int depth = 0;
    for (; at < name.size(); ++at) {
      depth += name[at] == '<' ? 1 : name[at] == '>' ? -1 : 0;
      if (depth == 0) break;
    }
    at = std::min(at + 1, name.size());
  }
  return imported_row(name.substr(0, op_end), name.substr(op_end, at - op_end), name.substr(at),
                      judge::Mode::real);
}

// The results of one benchmark's repetitions.
struct Repetitions {
  judge::Measured row;
  std::vector<double> samples_ns;
};

void add_repetition(Repetitions& found, judge::JsonObject& entry) {
  if (entry.has("error_occurred")) {
    found.row.verified = entry.has("error_message") ? entry.text("error_message") : "";
    if (found.row.verified.empty()) found.row.verified = "it failed without a message";
    return;
  }
  if (entry.has("skipped")) {
    found.row.skipped = entry.has("skip_message") ? entry.text("skip_message") : "";
    if (found.row.skipped.empty()) found.row.skipped = "it skipped itself";
    return;
  }
  const double unit = entry.known("time_unit", ns_per(entry.text("time_unit")), "ns, us, ms or s");
  found.samples_ns.push_back(unit * entry.positive("real_time"));
}

std::map<std::string, std::string> environment_of(judge::JsonObject context) {
  std::map<std::string, std::string> environment = {{"format", "google-benchmark"},
                                                    {"device", "host"}};
  for (const char* key : {"host_name", "library_build_type", "library_version"})
    if (context.has(key)) environment[key] = context.text(key);
  if (context.has("num_cpus"))
    environment["cores"] = fmt::format("{:g}", context.positive("num_cpus"));
  if (context.has("date")) environment["date_utc"] = context.text("date");
  return environment;
}

} // namespace

judge::Results from_google_benchmark(const nlohmann::json& root,
                                     const std::filesystem::path& path) {
  judge::JsonObject object(root, path.string());
  judge::Results run;
  run.environment = environment_of(object.object("context"));
  std::vector<std::string> order;
  std::map<std::string, Repetitions> benchmarks; // by name as written
  object.each("benchmarks", [&](judge::JsonObject entry) {
    if (entry.text("run_type") == "aggregate") return;
    const std::string name = entry.text("run_name");
    const auto [at, is_new] = benchmarks.try_emplace(name);
    if (is_new) {
      order.push_back(name);
      at->second.row = row_named(name);
      at->second.row.tags["name"] = name;
    }
    add_repetition(at->second, entry);
  });
  for (const std::string& name : order) {
    Repetitions& found = benchmarks.at(name);
    // A failed run must not report a time.
    if (found.row.verified.empty() && found.row.skipped.empty())
      judge::take_samples(found.row, found.samples_ns);
    add_row(run, std::move(found.row), fmt::format("{}: benchmark '{}'", path.string(), name));
  }
  if (run.rows.empty())
    throw Error(path.string() + ": /benchmarks holds no repetition; run without "
                                "--benchmark_report_aggregates_only");
  return run;
}

} // namespace kg::imports
