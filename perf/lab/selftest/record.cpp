// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/selftest/record.h"

#include "perf/format/json_reader.h"
#include "perf/format/sinks.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace kg::selftest {
namespace {

using judge::JsonObject;
using nlohmann::json;

// Rounded to 0.1 ns, below any clock's resolution: fewer digits make files a third of the size.
std::vector<double> rounded(const std::vector<double>& samples_ns) {
  std::vector<double> result;
  for (const double ns : samples_ns) result.push_back(std::round(ns * 10) / 10);
  return result;
}

json to_json(const Processes& processes) {
  json result = json::array();
  for (const std::vector<double>& samples : processes)
    result.push_back({{"samples_ns", rounded(samples)}});
  return result;
}

// Slopes of two graphs scatter around the time: a single slope may be negative.
Processes processes_of(JsonObject& object, const std::string& member, judge::Mode mode) {
  Processes processes;
  object.each(member, [&](JsonObject process) {
    processes.push_back(mode == judge::Mode::graph ? process.numbers("samples_ns")
                                                   : process.positives("samples_ns"));
    if (processes.back().empty()) process.fail("samples_ns", "is empty", "measure again");
    process.done();
  });
  return processes;
}

json to_json(const Check& check) {
  json result = {{"experiment", check.experiment},
                 {"step", check.step},
                 {"verdict", name(check.verdict)},
                 {"screened", to_json(check.screened)}};
  if (!check.rounds.a_ns.empty())
    result["rounds"] = {{"a_ns", rounded(check.rounds.a_ns)},
                        {"b_ns", rounded(check.rounds.b_ns)},
                        {"control_ns", rounded(check.rounds.control_ns)}};
  return result;
}

Check check_of(JsonObject object, judge::Mode mode) {
  Check check;
  check.experiment = object.text("experiment");
  constexpr std::size_t kMostSteps = 1000;
  const std::size_t step = object.whole_number("step");
  if (step > kMostSteps) object.fail("step", "is not a step of an experiment", "measure again");
  check.step = static_cast<int>(step);
  check.verdict =
      object.known("verdict", judge::named(object.text("verdict"), judge::Verdict::skipped),
                   "a verdict of the gate");
  check.screened = processes_of(object, "screened", mode);
  if (check.screened.empty()) object.fail("screened", "is empty", "measure again");
  if (object.has("rounds")) {
    JsonObject rounds = object.object("rounds");
    check.rounds = {rounds.positives("a_ns"), rounds.positives("b_ns"),
                    rounds.positives("control_ns")};
    rounds.done();
  }
  object.done();
  return check;
}

CheckedRow row_of(JsonObject object) {
  CheckedRow row;
  row.key = {
      object.text("case"), object.text("variant"),
      object.known("mode", judge::mode_named(object.text("mode")), "cold, hot, graph or real")};
  row.blessed = processes_of(object, "blessed", row.key.mode);
  if (row.blessed.empty()) object.fail("blessed", "is empty", "measure again");
  row.reference = processes_of(object, "reference", row.key.mode);
  object.each("checks",
              [&](JsonObject check) { row.checks.push_back(check_of(check, row.key.mode)); });
  object.done();
  return row;
}

} // namespace

std::string to_json(const Batch& batch) {
  json rows = json::array();
  for (const CheckedRow& row : batch.rows) {
    json checks = json::array();
    for (const Check& check : row.checks) checks.push_back(to_json(check));
    rows.push_back({{"case", row.key.case_id},
                    {"variant", row.key.variant},
                    {"mode", name(row.key.mode)},
                    {"blessed", to_json(row.blessed)},
                    {"reference", to_json(row.reference)},
                    {"checks", checks}});
  }
  return judge::for_json({{"schema", kRecordSchema},
                          {"device", batch.device},
                          {"backend", batch.backend},
                          {"date_utc", batch.date_utc},
                          {"source", batch.source},
                          {"rows", rows}}) +
         "\n";
}

Batch batch_from_json(std::string_view contents, const std::string& file) {
  const json parsed = judge::parse_json(contents, file);
  JsonObject object(parsed, file);
  object.version(kRecordSchema);
  Batch batch;
  batch.device = object.text("device");
  batch.backend = object.text("backend");
  batch.date_utc = object.text("date_utc");
  batch.source = object.text("source");
  object.each("rows", [&](JsonObject row) { batch.rows.push_back(row_of(row)); });
  object.done();
  return batch;
}

Batch load_batch(const std::filesystem::path& path) {
  const std::optional<std::string> contents = read_file(path);
  if (!contents) throw Error(path.string() + ": no such file; name one that --samples wrote");
  return batch_from_json(*contents, path.string());
}

} // namespace kg::selftest
