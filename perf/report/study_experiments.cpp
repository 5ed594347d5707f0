// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/study_tables.h"

#include "perf/format/csv.h"
#include "perf/judge/gate.h"
#include "perf/judge/peers.h"
#include "perf/judge/shards.h"
#include "perf/measure/measure.h"
#include "perf/report/rows.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace kg::report {
namespace {

using judge::Measured;
using judge::TextTable;
using study::Experiment;
using study::Record;
using study::Study;

std::string us(double ns) { return fmt::format("{:.4g}", ns / 1e3); }
std::string ms(double ns) { return fmt::format("{:.4g}", ns / 1e6); }

std::string text_at(const std::map<std::string, std::string>& texts, const char* key,
                    const char* otherwise) {
  const auto found = texts.find(key);
  return found == texts.end() ? otherwise : found->second;
}

// The largest CPU share of other processes during any experiment, in percent.
double busiest(const Record& record) {
  double most = 0;
  for (const Experiment& each : record.done)
    most = std::max(most,
                    judge::parse_number(text_at(each.row.tags, "foreign_load", "0")).value_or(0));
  return most;
}

std::string check_text(const Measured& row, const study::Point& point) {
  if (!row.skipped.empty()) return "skipped";
  if (!row.verified.empty()) return "INVALID";
  return point.result.empty() ? "ok" : "ok, " + point.result;
}

std::vector<std::string> cells_of(const study::Point& point, const Experiment& experiment) {
  const Measured& row = experiment.row;
  std::vector<std::string> cells = {point.label, row.key.variant};
  if (is_timed(experiment))
    cells.insert(cells.end(),
                 {us(row.median_ns), ms(row.median_ns),
                  fmt::format("±{:.1f} %", 100 * judge::half_width(row.ci_ns, row.median_ns))});
  else
    cells.insert(cells.end(), 3, "-");
  cells.push_back(rate_text(row));
  const auto& traced = experiment.traced;
  cells.push_back(traced ? us(traced->device_ns) : "-");
  cells.push_back(traced ? us(traced->wall_ns - traced->device_ns) : "-");
  cells.push_back(text_at(row.tags, perf::kWorstErrorTag, "-"));
  cells.push_back(check_text(row, point));
  return cells;
}

std::string shortened(const std::string& name) {
  constexpr std::size_t kMost = 60; // vendors' kernel names may fill several lines
  return name.size() <= kMost ? name : name.substr(0, kMost - 3) + "...";
}

} // namespace

std::vector<AtPoint> by_point(const Record& record) {
  std::vector<AtPoint> result;
  for (const study::Point& point : record.header.points) {
    result.push_back({&point, {}});
    for (const study::Planned& planned : record.header.plan) {
      if (planned.case_id != point.case_id) continue;
      if (const Experiment* found = record.find(planned))
        result.back().experiments.push_back(found);
    }
  }
  return result;
}

Section machine_section(const Study& study, const Record& record) {
  const study::Header& header = record.header;
  const auto known = [&](const char* key) { return text_at(header.environment, key, "unknown"); };
  std::string settings;
  for (const auto& [name, value] : header.settings)
    settings += fmt::format(" --{} {}", name, value);
  Section section{fmt::format("{}: {}", study.name, study.text), {}};
  section.lines = {
      fmt::format("device: {} ({}); CPU: {}, {} cores", known("device"), known("device_name"),
                  known("cpu"), known("cores")),
      fmt::format("source {}, begun {};{}", known("source"), header.date_utc, settings),
      fmt::format("{} of {} experiments{}{}, all on this device", record.done.size(),
                  header.plan.size(), record.finished() ? "" : " (UNFINISHED)",
                  header.shard ? " of shard " + judge::text(*header.shard) : "")};
  if (known("device") == "host")
    section.lines.emplace_back("here our kernels run on the emulator and libraries as code of the "
                               "CPU: compare emulated kernels only");
  constexpr double kBusy = 25;
  if (const double percent = busiest(record); percent > kBusy)
    section.lines.push_back(fmt::format("other processes took up to {:.0f} % of the CPU: measure "
                                        "again on an idle machine before believing these times",
                                        percent));
  return section;
}

Section experiment_section(const Study& study, const Record& record) {
  const bool compiles = std::any_of(record.done.begin(), record.done.end(),
                                    [](const Experiment& each) { return each.row.jit_ns > 0; });
  std::vector<std::string> header = {study.axis, "variant",   "total us", "total ms", "±99 % CI",
                                     "rate",     "device us", "host us",  "error",    "check"};
  if (compiles) header.insert(header.end(), {"compile us", "compile ms"});
  Section section{
      "Experiments",
      {"total: what a caller waits, the median; device and host: the parts of the mean of some "
       "traced executions",
       "error: the greatest distance from the fp64 oracle as a share of what is tolerated"},
      TextTable(header)};
  if (compiles)
    section.lines.emplace_back("compile: at run time, before the first execution; in no total");
  for (const AtPoint& at : by_point(record))
    for (const Experiment* experiment : at.experiments) {
      std::vector<std::string> cells = cells_of(*at.point, *experiment);
      const double jit_ns = experiment->row.jit_ns;
      if (compiles && jit_ns > 0) cells.insert(cells.end(), {us(jit_ns), ms(jit_ns)});
      if (compiles && jit_ns == 0) cells.insert(cells.end(), 2, "-");
      section.table->add(cells);
    }
  return section;
}

Section kernel_section(const Study& study, const Record& record) {
  constexpr std::size_t kMost = 3;
  Section section{"Kernels by time",
                  {},
                  TextTable({study.axis, "variant", "kernel", "per run", "us per run", "share"})};
  if (study.scaling) section.lines.emplace_back("of each variant at its largest size");
  std::set<std::string> shown;
  std::vector<AtPoint> points = by_point(record);
  if (study.scaling) std::reverse(points.begin(), points.end());
  for (const AtPoint& at : points)
    for (const Experiment* each : at.experiments) {
      if (!each->traced || (study.scaling && !shown.insert(each->row.key.variant).second)) continue;
      const std::vector<study::Kernel>& kernels = each->traced->kernels;
      for (std::size_t i = 0; i < std::min(kMost, kernels.size()); ++i)
        section.table->add(
            {at.point->label, each->row.key.variant, shortened(kernels[i].name),
             fmt::format("{:.4g}", kernels[i].launches), us(kernels[i].total_ns),
             fmt::format("{:.0f} %", 100 * kernels[i].total_ns / each->traced->device_ns)});
    }
  return section;
}

Section failure_section(const Record& record) {
  Section section{"Failures and skips", {}};
  for (const Experiment& each : record.done) {
    const Measured& row = each.row;
    if (!row.verified.empty())
      section.lines.push_back(fmt::format("{}: INVALID: {}; again: {}", judge::text(row.key),
                                          row.verified, judge::again(row)));
    if (!row.skipped.empty())
      section.lines.push_back(fmt::format("{}: skipped: {}", judge::text(row.key), row.skipped));
  }
  return section;
}

} // namespace kg::report
