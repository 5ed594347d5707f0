// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What programs that read report.json rely on: which members it has and what they are.
// report_schema.txt has a line for each; KERNELGRADE_WRITE_SCHEMA=1 writes it anew, for a reviewer
// to read.
#include "perf/report/report.h"
#include "runtime/atomic_file.h"
#include "tests/unit/perf/report/attachments.h"
#include "tests/unit/perf/report/counted.h"
#include "tests/unit/perf/report/row_histories.h"
#include "tests/unit/perf/report/run.h"
#include "tests/unit/perf/report/studies.h"
#include "tests/unit/perf/report/sweep.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace kg::report {
namespace {

// Objects whose members are named by data: operations, metrics, things of the machine.
const std::set<std::string> kMaps = {"categories",
                                     "ceilings",
                                     "correctness[].evidence",
                                     "correctness[].evidence.*",
                                     "environment",
                                     "grades",
                                     "theory",
                                     "verdicts",
                                     "counted[].verdicts"};

void add_shape(std::set<std::string>& lines, const std::string& path, const nlohmann::json& value) {
  if (value.is_object()) {
    for (const auto& [name, member] : value.items())
      add_shape(lines, (path.empty() ? "" : path + ".") + (kMaps.contains(path) ? "*" : name),
                member);
  } else if (value.is_array()) {
    for (const auto& element : value) add_shape(lines, path + "[]", element);
  } else {
    lines.insert(path + ": " + (value.is_number() ? "number" : value.type_name()));
  }
}

// With everything that a report can hold.
nlohmann::json whole_report() {
  test::JudgedRun run = test::mixed();
  run.measured.environment["memory_max_mhz"] = "1000";
  run.measured.environment["memory_bus_bits"] = "512";
  for (judge::Measured& each : run.measured.rows) each.key.mode = judge::Mode::cold; // has a roof
  for (judge::RowResult& each : run.judged.rows) each.key.mode = judge::Mode::cold;
  judge::Measured& row = run.measured.rows[0];
  row.setup_ns = row.first_call_ns = row.jit_ns = row.peak_bytes = 1;
  row.identity = "0123";
  row.canary = judge::MeasuredCanary{judge::CanaryKind::memory, 100, 0.01};
  run.judged.notes = {"a note"};
  for (judge::Measured& each : test::crossing_run("linear").rows) {
    each.key.mode = judge::Mode::graph; // not among the rows above
    run.measured.rows.push_back(std::move(each));
  }
  for (judge::Measured& each : test::crossing_run().rows) { // not resolved
    each.key.mode = judge::Mode::hot;
    each.ci_ns = {0, 1e9};
    run.measured.rows.push_back(std::move(each));
  }
  Attachments all = test::attachments();
  all.tests.emplace_back();
  all.studies = test::studies().studies;
  all.history = test::histories().history;
  CountedSections counted = test::counted();
  counted.back().measured[0].as_blessed = "not compiled";
  return nlohmann::json::parse(
      json(run.measured, run.judged, {{"dram_bytes_per_s", 2e12}}, counted, all));
}

TEST(ReportJson, KeepsItsSchema) {
  std::set<std::string> lines = {"kReportSchema = " + std::to_string(kReportSchema)};
  add_shape(lines, "", whole_report());
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  if (std::getenv("KERNELGRADE_WRITE_SCHEMA")) write_file(REPORT_SCHEMA, text);
  EXPECT_EQ(text, read_file(REPORT_SCHEMA).value_or("is missing"))
      << "where a member went or became another type, raise kReportSchema";
}

} // namespace
} // namespace kg::report
