// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/report.h"

#include "perf/format/sinks.h"
#include "perf/judge/command.h"
#include "perf/judge/roof.h"
#include "perf/judge/stored_confirmation.h"
#include "perf/judge/summary.h"
#include "perf/judge/theory.h"
#include "perf/measure/environment.h"
#include "perf/report/aggregates.h"
#include "perf/report/annotations.h"
#include "perf/report/crossovers.h"
#include "perf/report/exporters.h"
#include "perf/report/headline.h"
#include "perf/report/html.h"
#include "perf/report/kept_runs.h"
#include "perf/report/peers.h"
#include "perf/report/rows.h"
#include "perf/report/run_quality.h"
#include "perf/report/summary.h"
#include "runtime/atomic_file.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace kg::report {
namespace {

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

constexpr const char* kScale =
    "Grade = baseline / measured (host: both in units of a canary kernel's time): excellent from "
    "0.90, good from 0.70, fair from 0.50, poor from 0.20, critical below; n/a without a baseline. "
    "vs vendor (GPUs) = the vendor's time / Kernelgrade's, on the same scale. Verdict = what the "
    "gate makes of it.";

// Quantiles of the samples from minimum to maximum in steps of 5 %, for a histogram of any number
// of samples. Requires at least one sample.
std::vector<double> quantiles(std::vector<double> samples) {
  constexpr int kSteps = 20;
  std::sort(samples.begin(), samples.end());
  std::vector<double> result;
  for (int i = 0; i <= kSteps; ++i)
    result.push_back(samples[(samples.size() - 1) * static_cast<std::size_t>(i) / kSteps]);
  return result;
}

nlohmann::json to_json(const judge::RowConfirmation& confirmation) {
  if (!confirmation.found) return {{"unavailable", confirmation.unavailable}};
  const judge::Confirmation& found = *confirmation.found;
  return {{"reference", confirmation.reference},
          {"verdict", judge::name(found.verdict)},
          {"ratio", found.ratio},
          {"ratio_lo", found.ratio_interval.low},
          {"ratio_hi", found.ratio_interval.high},
          {"pairs", found.pairs},
          {"detectable_pct", found.detectable_pct}};
}

// The side-by-side measurements; empty if there are none.
std::string confirmations_text(const judge::Results& run) {
  judge::TextTable table({"row", "A", "pairs", "A / B", "interval", "verdict"});
  const judge::Confirmations all = judge::stored_confirmations(run);
  for (const auto& [key, confirmation] : all) {
    if (!confirmation.found) {
      table.add({judge::text(key), "-", "-", "-", "-", "unconfirmed: " + confirmation.unavailable});
      continue;
    }
    const judge::Confirmation& found = *confirmation.found;
    table.add({judge::text(key), confirmation.reference, std::to_string(found.pairs),
               fmt::format("{:.3f}", found.ratio),
               fmt::format("[{:.3f}, {:.3f}]", found.ratio_interval.low, found.ratio_interval.high),
               std::string(judge::name(found.verdict))});
  }
  if (all.empty()) return "";
  return fmt::format("## Suspicious rows, side by side with the build that was blessed (A)\n\n{}\n",
                     table.markdown());
}

// The device's theoretical limits; empty if unknown.
std::string limits_text(const std::map<std::string, double>& limits) {
  if (limits.empty()) return "";
  judge::TextTable table({"limit", "per second"});
  for (const auto& [name, value] : limits) table.add({name, fmt::format("{:.4g}", value)});
  return "## Theoretical limits\n\n" + table.markdown() + "\n";
}

nlohmann::json to_json(const judge::RowResult& row, const judge::Measured* measured,
                       const judge::Ceilings& ceilings) {
  nlohmann::json result = {{"op", row.op},
                           {"dtype", row.dtype},
                           {"case", row.key.case_id},
                           {"variant", row.key.variant},
                           {"mode", judge::name(row.key.mode)},
                           {"category", row.category},
                           {"kind", judge::name(row.kind)},
                           {"verdict", judge::name(row.verdict)},
                           {"warning", row.warning},
                           {"exit_code", row.exit_code},
                           {"message", row.message},
                           {"reproduce", judge::row_command("gate", row.op, row.dtype, row.key)}};
  if (row.grade) result["grade"] = judge::name(*row.grade);
  if (row.ratio) {
    result["ratio"] = *row.ratio;
    result["ratio_lo"] = row.ratio_interval.low;
    result["ratio_hi"] = row.ratio_interval.high;
  }
  if (row.baseline_ns > 0) result["baseline_ns"] = row.baseline_ns;
  if (!measured || measured->samples_ns.empty()) return result;
  result["median_ns"] = measured->median_ns;
  result["ci_lo_ns"] = measured->ci_ns.low;
  result["ci_hi_ns"] = measured->ci_ns.high;
  result["samples"] = measured->samples_ns.size();
  result["quantiles_ns"] = quantiles(measured->samples_ns);
  result["bytes"] = measured->bytes;
  result["flops"] = measured->flops;
  result["processes"] = measured->process_medians_ns.size();
  result["gb_per_s"] = measured->bytes / measured->median_ns;
  result["gflop_per_s"] = measured->flops / measured->median_ns;
  if (measured->canary) result["canary_ns"] = measured->canary->median_ns;
  const auto add = [&](const char* key, double value) {
    if (value > 0) result[key] = value;
  };
  add("setup_ns", measured->setup_ns);
  add("first_call_ns", measured->first_call_ns);
  add("jit_ns", measured->jit_ns);
  add("peak_bytes", measured->peak_bytes);
  if (const auto confirmation = judge::stored_confirmation(*measured))
    result["confirmation"] = to_json(*confirmation);
  if (!measured->identity.empty()) result["identity"] = measured->identity;
  if (const auto share = judge::roof_share(*measured, ceilings)) result["share_of_roof"] = *share;
  return result;
}

// Statistics of the graded rows; rows without a time or with a wrong result have no grade. `rows`
// also counts these.
nlohmann::json to_json(const judge::GroupGrade& group) {
  nlohmann::json result = {{"rows", group.rows}, {"graded", group.graded}};
  if (group.geomean) result["geomean"] = *group.geomean;
  if (group.grade) result["grade"] = judge::name(*group.grade);
  return result;
}

// All of our rows as one group, with median, minimum and maximum.
nlohmann::json all_of(const judge::GateResult& result) {
  std::vector<const judge::RowResult*> ours;
  for (const judge::RowResult& row : result.rows)
    if (row.kind == judge::Kind::ours) ours.push_back(&row);
  nlohmann::json all = to_json(judge::grade_group(ours));
  const SpeedUp found = over_baselines(result);
  if (found.rows == 0) return all;
  all["median"] = found.median;
  all["worst"] = found.least;
  all["best"] = found.greatest;
  return all;
}

// Vendor time / our time over the rows that have it: rows at least as fast, mean, minimum, maximum.
nlohmann::json to_json(const SpeedUp& vendor) {
  nlohmann::json result = {{"of", vendor.of}, {"rows", vendor.rows}, {"faster", vendor.reached}};
  if (vendor.rows == 0) return result;
  result["geomean"] = vendor.geomean;
  result["median"] = vendor.median;
  result["worst"] = vendor.least;
  result["best"] = vendor.greatest;
  return result;
}

} // namespace

std::string markdown(const judge::Results& run, const judge::GateResult& result,
                     const CountedSections& counted, const Attachments& attachments) {
  const judge::Summary summary = judge::summarise(result);
  std::string text = fmt::format("# Kernelgrade report\n\n**{}**\n\n",
                                 judge::for_markdown(headline(run, result, counted, attachments)));
  text += opening(run, result, counted, attachments, kAll);
  text += fmt::format("{}\n\n## Rows, worst first\n\n{}\n{}\n", kScale,
                      judged_table(result, run.rows, device_of(run)).markdown(),
                      confirmations_text(run));
  text += markdown(sweeps(run));
  if (const auto peers = peer_sections(run); !peers.empty()) text += markdown(peers, 2) + "\n";
  if (!counted.empty()) text += "## Costs and resources that changed, worst first\n\n";
  for (const CountedSection& section : counted) text += markdown(section, section.measured.size());
  const std::string others = markdown(attachments, kAll);
  if (!others.empty()) text += "## Tests and comparisons\n\n" + others;
  if (!attachments.studies.empty()) text += "## Studies\n\n";
  for (const StudyRun& run : attachments.studies) text += markdown(run);
  text += limits_text(judge::theoretical_limits(run.environment));
  text += "## Environment\n\n";
  judge::TextTable environment({"what", "value"});
  for (const auto& [key, value] : run.environment) environment.add({key, value});
  return text + environment.markdown();
}

std::string json(const judge::Results& run, const judge::GateResult& result,
                 const judge::Ceilings& ceilings, const CountedSections& counted,
                 const Attachments& attachments) {
  std::map<judge::RowKey, const judge::Measured*> measured;
  for (const judge::Measured& row : run.rows) measured.emplace(row.key, &row);
  const judge::Summary summary = judge::summarise(result);
  nlohmann::json rows = nlohmann::json::array(), verdicts, grades;
  std::map<judge::RowKey, double> speedups;
  if (device_of(run) == judge::Device::gpu) speedups = vendor_speedups(run.rows);
  for (const judge::RowResult& row : result.rows) {
    const auto found = measured.find(row.key);
    rows.push_back(to_json(row, found == measured.end() ? nullptr : found->second, ceilings));
    if (const auto at = speedups.find(row.key); at != speedups.end())
      rows.back()["vendor_speedup"] = at->second;
  }
  for (const auto& [verdict, count] : summary.verdicts.gated)
    verdicts[std::string(judge::name(verdict))] = count;
  for (const auto& [grade, count] : summary.grades) grades[std::string(judge::name(grade))] = count;
  nlohmann::json categories = nlohmann::json::object();
  for (const auto& [category, group] : summary.categories) categories[category] = to_json(group);
  nlohmann::json sections = nlohmann::json::array();
  for (const CountedSection& section : counted) sections.push_back(json(section));
  nlohmann::json success = nlohmann::json::array();
  for (const Success& each : successes(result, counted, attachments))
    success.push_back(to_json(each));
  nlohmann::json report = {{"schema", kReportSchema},
                           {"exit_code", result.exit_code},
                           {"line", headline(run, result, counted, attachments)},
                           {"scale", kScale},
                           {"all", all_of(result)},
                           {"categories", categories},
                           {"vendor", to_json(over_vendor(run, result, attachments))},
                           {"success", success},
                           {"trust", trust_facts(run, result)},
                           {"ceilings", ceilings},
                           {"theory", judge::theoretical_limits(run.environment)},
                           {"environment", run.environment},
                           {"verdicts", verdicts},
                           {"grades", grades},
                           {"faults", result.faults},
                           {"notes", result.notes},
                           {"rows", rows},
                           {"crossovers", json(sweeps(run))},
                           {"counted", sections}};
  report.update(json(attachments));
  return judge::for_json(report, 1) + "\n";
}

std::filesystem::path write(const std::filesystem::path& folder, const judge::Results& run,
                            const judge::GateResult& result, const judge::Ceilings& ceilings,
                            const CountedSections& counted, const Attachments& attachments) {
  const std::string report = json(run, result, ceilings, counted, attachments);
  const auto fill = [&](const std::filesystem::path& into) {
    write_file(into / "report.json", report);
    write_file(into / "report.html", html(report));
    write_file(into / "report.md", markdown(run, result, counted, attachments));
    write_file(into / "summary.md", summary(run, result, counted, attachments));
    write_file(into / "rows.csv", rows_csv(run, result, counted));
    write_file(into / "tests.csv", tests_csv(attachments));
    write_file(into / "junit.xml", junit_xml(run, result, counted, attachments));
    write_file(into / "annotations.txt", annotations(result, counted, attachments));
    write_file(into / "badge.json", badge_json(result, counted, attachments));
    judge::save_results(into / "samples.json", run);
    if (const std::string page = peers_page(run); !page.empty())
      write_file(into / "peers.html", page);
  };
  const std::filesystem::path kept = keep_run(folder / "runs", perf::utc_now(), fill);
  for (const auto& file : std::filesystem::directory_iterator(kept))
    write_file(folder / file.path().filename(), *read_file(file.path()));
  return kept;
}

} // namespace kg::report
