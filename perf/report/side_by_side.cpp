// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/side_by_side.h"

#include "perf/format/csv.h"
#include "perf/format/schema.h"
#include "perf/judge/statistics.h"
#include "runtime/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <nlohmann/json.hpp>

namespace kg::report {
namespace {

using judge::Verdict;
double number_from_zero(const nlohmann::json& value) {
  const auto number = value.get<double>();
  require(number >= 0 && number <= judge::kGreatest,
          fmt::format("{} is not a number from 0 to {:g}", value.dump(), judge::kGreatest));
  return number;
}

double median_of(const nlohmann::json& times) {
  std::vector<double> values;
  for (const nlohmann::json& time : times) values.push_back(number_from_zero(time));
  return values.empty() ? 0 : judge::median(values);
}

ComparedPair row_from(const nlohmann::json& object) {
  ComparedPair row;
  const auto mode = judge::mode_named(object.at("mode").get<std::string>());
  const auto verdict = judge::named(object.at("verdict").get<std::string>(), Verdict::skipped);
  require(mode && verdict, "a row has an unknown mode or verdict");
  row.key = {object.at("case"), object.at("variant"), *mode};
  row.verdict = *verdict;
  row.a_ns = median_of(object.at("a_ns"));
  row.b_ns = median_of(object.at("b_ns"));
  row.pairs = object.at("a_ns").size();
  row.reason = object.at("reason");
  if (!object.contains("ratio")) return row;
  row.ratio = number_from_zero(object.at("ratio"));
  row.ratio_interval = {number_from_zero(object.at("ratio_interval").at(0)),
                        number_from_zero(object.at("ratio_interval").at(1))};
  row.detectable_pct = number_from_zero(object.at("detectable_pct"));
  return row;
}

nlohmann::json row_json(const ComparedPair& row) {
  nlohmann::json object = {{"case", row.key.case_id},
                           {"variant", row.key.variant},
                           {"mode", judge::name(row.key.mode)},
                           {"verdict", judge::name(row.verdict)},
                           {"exit_code", judge::usual_exit(row.verdict)},
                           {"pairs", row.pairs},
                           {"reason", row.reason}};
  if (row.a_ns > 0) object["a_ns"] = row.a_ns;
  if (row.b_ns > 0) object["b_ns"] = row.b_ns;
  if (!row.ratio) return object;
  object["ratio"] = *row.ratio;
  object["ratio_lo"] = row.ratio_interval.low;
  object["ratio_hi"] = row.ratio_interval.high;
  object["detectable_pct"] = row.detectable_pct;
  return object;
}

} // namespace

SideBySide side_by_side_from(const nlohmann::json& root, const std::string& file) {
  try {
    SideBySide compared{root.at("a"), root.at("b"), {}};
    for (const nlohmann::json& row : root.at("rows")) compared.rows.push_back(row_from(row));
    return compared;
  } catch (const std::exception& error) { // from the JSON library or from this file
    throw Error(fmt::format("{}: {}; run kernelgrade ab again", file, error.what()));
  }
}

int exit_code(const SideBySide& compared) {
  std::vector<judge::RowExit> exits;
  for (const ComparedPair& row : compared.rows) exits.push_back({judge::usual_exit(row.verdict)});
  return judge::exit_of_rows(exits, false);
}

std::string line(const SideBySide& compared) {
  std::map<Verdict, std::size_t> counts;
  for (const ComparedPair& row : compared.rows) ++counts[row.verdict];
  std::vector<std::string> parts;
  for (const auto& [verdict, count] : counts)
    parts.push_back(fmt::format("{} {}", count, judge::name(verdict)));
  return fmt::format("{}: {}", title(compared),
                     parts.empty() ? "no rows" : fmt::format("{}", fmt::join(parts, ", ")));
}

std::string title(const SideBySide& compared) {
  constexpr std::size_t kShortCommit = 12;
  return "beside " + compared.a.substr(0, kShortCommit);
}

nlohmann::json to_json(const SideBySide& compared) {
  nlohmann::json rows = nlohmann::json::array();
  for (const ComparedPair& row : compared.rows) rows.push_back(row_json(row));
  return {{"a", compared.a}, {"b", compared.b}, {"line", line(compared)}, {"rows", rows}};
}

TestSuite junit_suite(const SideBySide& compared) {
  TestSuite suite{title(compared), {}};
  for (const ComparedPair& row : compared.rows) {
    TestCase test{suite.name,
                  judge::text(row.key),
                  row.b_ns / 1e9,
                  judge::usual_exit(row.verdict),
                  std::string(judge::name(row.verdict)),
                  row.reason};
    if (row.ratio)
      test.properties = {{"a_ns", judge::csv_number(row.a_ns)},
                         {"b_ns", judge::csv_number(row.b_ns)},
                         {"ratio", judge::csv_number(*row.ratio)}};
    test.properties.emplace_back("verdict", judge::name(row.verdict));
    suite.cases.push_back(std::move(test));
  }
  return suite;
}

} // namespace kg::report
