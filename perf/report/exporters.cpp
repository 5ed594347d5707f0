// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/exporters.h"

#include "perf/format/csv.h"
#include "perf/format/sinks.h"
#include "perf/report/junit.h"
#include "perf/report/rows.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

namespace kg::report {
namespace {

using judge::GateResult;
using judge::Measured;
using judge::RowResult;

std::map<judge::RowKey, const Measured*> by_key(const judge::Results& run) {
  std::map<judge::RowKey, const Measured*> rows;
  for (const Measured& row : run.rows) rows.emplace(row.key, &row);
  return rows;
}

const Measured* find(const std::map<judge::RowKey, const Measured*>& rows,
                     const judge::RowKey& key) {
  const auto at = rows.find(key);
  return at == rows.end() || at->second->samples_ns.empty() ? nullptr : at->second;
}

TestSuite timings_suite(const judge::Results& run, const GateResult& result) {
  const auto measured = by_key(run);
  TestSuite suite{"perf", {}};
  for (const RowResult& row : result.rows) {
    const Measured* const times = find(measured, row.key);
    TestCase test{fmt::format("perf.{}.{}", row.op, row.dtype), judge::text(row.key),
                  times ? times->median_ns / 1e9 : 0.0,         row.exit_code,
                  std::string(judge::name(row.verdict)),        judge::for_csv(row.message)};
    const auto property = [&](const char* name, double value) {
      test.properties.emplace_back(name, judge::csv_number(value));
    };
    if (times) property("median_ns", times->median_ns);
    if (row.baseline_ns > 0) property("baseline_ns", row.baseline_ns);
    if (row.ratio) {
      property("ratio", *row.ratio);
      property("ratio_lo", row.ratio_interval.low);
      property("ratio_hi", row.ratio_interval.high);
    }
    test.properties.emplace_back("verdict", judge::name(row.verdict));
    suite.cases.push_back(std::move(test));
  }
  for (const std::string& fault : result.faults) suite.cases.push_back(fault_case("perf", fault));
  return suite;
}

} // namespace

std::string rows_csv(const judge::Results& run, const GateResult& result,
                     const CountedSections& counted) {
  const auto measured = by_key(run);
  const auto speedups = device_of(run) == judge::Device::gpu ? vendor_speedups(run.rows)
                                                             : std::map<judge::RowKey, double>();
  std::vector<std::string> header = {
      "case",     "variant",  "mode",        "kind",       "category",       "median_ns",
      "ci_lo_ns", "ci_hi_ns", "baseline_ns", "ratio",      "vendor_speedup", "grade",
      "verdict",  "gb_per_s", "gflop_per_s", "peak_bytes", "message"};
  header.insert(header.end(), std::begin(kCountedColumns), std::end(kCountedColumns));
  std::string text = judge::csv_record(header);
  for (const RowResult& row : result.rows) {
    const Measured* const times = find(measured, row.key);
    const auto number = [](bool known, double value) {
      return known ? judge::csv_number(value) : std::string();
    };
    const auto at = speedups.find(row.key);
    std::vector<std::string> fields = {
        judge::for_csv(row.key.case_id),
        judge::for_csv(row.key.variant),
        std::string(judge::name(row.key.mode)),
        std::string(judge::name(row.kind)),
        judge::for_csv(row.category),
        times ? judge::csv_number(times->median_ns) : "",
        times ? judge::csv_number(times->ci_ns.low) : "",
        times ? judge::csv_number(times->ci_ns.high) : "",
        number(row.baseline_ns > 0, row.baseline_ns),
        row.ratio ? judge::csv_number(*row.ratio) : "",
        at == speedups.end() ? "" : judge::csv_number(at->second),
        row.grade ? std::string(judge::name(*row.grade)) : "",
        std::string(judge::name(row.verdict)),
        times ? judge::csv_number(times->bytes / times->median_ns) : "",
        times ? judge::csv_number(times->flops / times->median_ns) : "",
        times ? number(times->peak_bytes > 0, times->peak_bytes) : "",
        judge::for_csv(row.message)};
    fields.resize(header.size());
    text += judge::csv_record(fields);
  }
  for (const CountedSection& section : counted)
    for (const auto& record : csv_records(section)) {
      std::vector<std::string> fields;
      for (const std::string& column : header) {
        const auto at = record.find(column);
        fields.push_back(at == record.end() ? "" : at->second);
      }
      text += judge::csv_record(fields);
    }
  return text;
}

std::string junit_xml(const judge::Results& run, const GateResult& result,
                      const CountedSections& counted, const Attachments& attachments) {
  std::vector<TestSuite> suites = {timings_suite(run, result)};
  for (const CountedSection& section : counted) suites.push_back(junit_suite(section));
  for (TestSuite& suite : junit_suites(attachments)) suites.push_back(std::move(suite));
  return junit_xml(suites);
}

std::string badge_json(const GateResult& result, const CountedSections& counted,
                       const Attachments& attachments) {
  std::size_t passed = 0, rows = result.rows.size();
  for (const RowResult& row : result.rows) passed += row.exit_code == judge::kExitPass;
  for (const CountedSection& section : counted) {
    rows += section.result.rows.size();
    for (const judge::ExactVerdict& row : section.result.rows)
      passed += row.exit_code == judge::kExitPass;
  }
  const char* what = "rows";
  if (!attachments.tests.empty()) {
    what = "tests";
    passed = rows = 0;
    for (const PlannedTest& test : attachments.tests) {
      passed += test.state == TestState::passed;
      rows += test.state != TestState::skipped;
    }
  }
  const bool fails = result.exit_code == judge::kExitFail;
  const bool skips = result.exit_code == judge::kExitSkip;
  const nlohmann::json badge = {{"schemaVersion", 1},
                                {"label", "kernels"},
                                {"message", fmt::format("{}, {} of {} {}",
                                                        fails   ? "failed"
                                                        : skips ? "skipped"
                                                                : "passed",
                                                        passed, rows, what)},
                                {"color", fails   ? "red"
                                          : skips ? "lightgrey"
                                                  : "brightgreen"}};
  return badge.dump(1) + "\n";
}

} // namespace kg::report
