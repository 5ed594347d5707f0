// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/study_run.h"

#include "perf/judge/gate.h"
#include "perf/judge/peers.h"
#include "perf/lab/study/analysis.h"
#include "perf/report/study_tables.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>

namespace kg::report {
namespace {

constexpr bool kNotStrict = false; // strictness applies where exit codes are combined

nlohmann::json to_json(const Section& section) {
  nlohmann::json object = {{"title", section.title}, {"lines", section.lines}};
  if (section.table) object["table"] = section.table->lines();
  return object;
}

nlohmann::json to_json(const study::Curve& curve) {
  nlohmann::json times = nlohmann::json::array();
  for (const study::Timed& time : curve.times)
    times.push_back({{"size", time.size},
                     {"ns", time.ns},
                     {"ci_lo_ns", time.ci_ns.low},
                     {"ci_hi_ns", time.ci_ns.high}});
  return {{"group", curve.group},
          {"variant", curve.variant},
          {"kind", judge::name(curve.kind)},
          {"times", times}};
}

// Empty if the exponent is as expected or informational.
std::optional<StudyRemark> wrong_exponent(const study::Study& study, const study::Curve& curve) {
  if (!study.scaling || study.scaling->tolerance == 0 || !curve.judged) return std::nullopt;
  const study::Scaling scaling = study::expected(study, curve);
  const auto fit = study::fit(curve, scaling.exponent);
  if (!fit || study::within(*fit, scaling)) return std::nullopt;
  return StudyRemark{curve.group.empty() ? curve.variant : curve.variant + ", " + curve.group,
                     "failed",
                     fmt::format("time grows as {}^{:.3f}, not as {}^{:g} ± {:g}", study.axis,
                                 fit->exponent, study.axis, scaling.exponent, scaling.tolerance)};
}

} // namespace

StudyRun study_from(const std::filesystem::path& path) {
  study::Record record = study::load_undivided(path);
  const study::Study& study = study::named(record.header.study);
  return {&study, std::move(record)};
}

int exit_code(const StudyRun& run) { return exit_code(*run.study, run.record, kNotStrict); }

std::string line(const StudyRun& run) {
  std::size_t invalid = 0, skipped = 0, failed = 0;
  for (const StudyRemark& remark : remarks(run)) {
    invalid += remark.verdict == "invalid";
    skipped += remark.verdict == "skipped";
    failed += remark.verdict == "failed";
  }
  std::string text = fmt::format("study {}: {} of {} experiments", run.study->name,
                                 run.record.done.size(), run.record.header.plan.size());
  if (invalid > 0) text += fmt::format(", {} invalid", invalid);
  if (skipped > 0) text += fmt::format(", {} skipped", skipped);
  if (failed > 0)
    text += fmt::format(", {} exponent{} not as expected", failed, failed == 1 ? "" : "s");
  return text;
}

std::vector<StudyRemark> remarks(const StudyRun& run) {
  std::vector<StudyRemark> result;
  for (const study::Experiment& each : run.record.done) {
    const judge::Measured& row = each.row;
    if (!row.verified.empty())
      result.push_back({judge::text(row.key), "invalid",
                        fmt::format("{}; again: {}", row.verified, judge::again(row))});
    else if (!row.skipped.empty())
      result.push_back({judge::text(row.key), "skipped", row.skipped});
  }
  if (!run.record.finished()) return result;
  for (const study::Curve& curve : study::curves(run.record))
    if (auto remark = wrong_exponent(*run.study, curve)) result.push_back(std::move(*remark));
  return result;
}

nlohmann::json to_json(const StudyRun& run) {
  const std::vector<study::Curve> curves = study::curves(run.record);
  nlohmann::json object = {{"name", run.study->name},
                           {"axis", run.study->axis},
                           {"date_utc", run.record.header.date_utc},
                           {"finished", run.record.finished()},
                           {"line", line(run)},
                           {"exit_code", exit_code(run)},
                           {"sections", nlohmann::json::array()},
                           {"curves", nlohmann::json::array()},
                           {"crossovers", nlohmann::json::array()},
                           {"remarks", nlohmann::json::array()}};
  for (const Section& section : study_sections(*run.study, run.record))
    object["sections"].push_back(to_json(section));
  for (const study::Curve& curve : curves) object["curves"].push_back(to_json(curve));
  if (run.study->scaling)
    for (const study::Crossover& each : study::crossovers(curves))
      object["crossovers"].push_back({{"group", each.group},
                                      {"before", each.before},
                                      {"after", each.after},
                                      {"size", each.size}});
  for (const StudyRemark& remark : remarks(run))
    object["remarks"].push_back(
        {{"name", remark.name}, {"verdict", remark.verdict}, {"message", remark.message}});
  return object;
}

TestSuite junit_suite(const StudyRun& run) {
  TestSuite suite{"study " + run.study->name, {}};
  for (const StudyRemark& remark : remarks(run))
    suite.cases.push_back({suite.name, remark.name, 0,
                           remark.verdict == "skipped" ? judge::kExitSkip : judge::kExitFail,
                           remark.verdict, remark.message});
  for (const study::Experiment& each : run.record.done)
    if (each.row.verified.empty() && each.row.skipped.empty())
      suite.cases.push_back({suite.name, judge::text(each.row.key), each.row.median_ns / 1e9,
                             judge::kExitPass, "pass", ""});
  return suite;
}

std::string markdown(const StudyRun& run) {
  constexpr int kLevel = 3;
  return markdown(study_sections(*run.study, run.record), kLevel) + "\n";
}

} // namespace kg::report
