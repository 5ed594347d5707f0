// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/study_vendors.h"

#include "perf/format/units.h"
#include "perf/judge/bands.h"
#include "perf/judge/peers.h"
#include "perf/judge/statistics.h"
#include "perf/report/study_tables.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <vector>

namespace kg::report {
namespace {

// The fastest row for which `counts` returns true.
const judge::Measured* fastest_of(const AtPoint& at, bool (*counts)(const judge::Measured&)) {
  const judge::Measured* best = nullptr;
  for (const study::Experiment* each : at.experiments)
    if (is_timed(*each) && counts(each->row) && (!best || each->row.median_ns < best->median_ns))
      best = &each->row;
  return best;
}

bool is_ours(const judge::Measured& row) { return row.kind == judge::Kind::ours; }

bool is_not_ours(const judge::Measured& row) { return !is_ours(row); }
bool is_any(const judge::Measured&) { return true; }

bool is_emulated(const study::Record& record) {
  const auto device = record.header.environment.find("device");
  return device != record.header.environment.end() && device->second == "host";
}

std::size_t failures_at(const AtPoint& at) {
  return static_cast<std::size_t>(
      std::count_if(at.experiments.begin(), at.experiments.end(),
                    [](const study::Experiment* each) { return !each->row.verified.empty(); }));
}

std::string time_of(const judge::Measured* row) {
  return row ? fmt::format("{} {}", row->key.variant, judge::time_text(row->median_ns)) : "-";
}

} // namespace

Section rate_section(const study::Study& study, const study::Record& record) {
  const bool emulated = is_emulated(record);
  Section section{study.items + " per second",
                  {},
                  judge::TextTable({"problem", "by", study.items + "/s", "of the fastest",
                                    "parameters", "Gflop", "peak MiB", "check"})};
  if (emulated)
    section.lines.emplace_back("Our kernels are emulated on this CPU, and compared with nothing; "
                               "frameworks are compared with one another.");
  for (const AtPoint& at : by_point(record)) {
    const judge::Measured* const best = fastest_of(at, emulated ? is_not_ours : is_any);
    for (const study::Experiment* each : at.experiments) {
      const judge::Measured& row = each->row;
      const auto parameters = row.tags.find("parameters");
      std::string share = is_timed(*each) ? "emulated" : "-";
      if (is_timed(*each) && !(emulated && is_ours(row)))
        share = fmt::format("{:.2f}", best->median_ns / row.median_ns);
      section.table->add(
          {at.point->label, row.key.variant,
           is_timed(*each) ? fmt::format("{:.4g}", 1e9 * at.point->size / row.median_ns) : "-",
           share, parameters == row.tags.end() ? "-" : parameters->second,
           fmt::format("{:.4g}", row.flops / 1e9),
           row.peak_bytes > 0 ? fmt::format("{:.1f}", row.peak_bytes / (1 << 20)) : "-",
           row.verified.empty() ? "ok" : "INVALID"});
    }
  }
  return section;
}

Section vendors_section(const study::Record& record) {
  const bool emulated = is_emulated(record);
  Section section{
      "Beside the libraries",
      {},
      judge::TextTable({"problem", "ours", "library", "library / ours", "grade", "failed"})};
  std::size_t run = 0, failed = 0;
  std::vector<double> ratios;
  for (const AtPoint& at : by_point(record)) {
    const judge::Measured* const ours = fastest_of(at, is_ours);
    const judge::Measured* const library = fastest_of(at, judge::is_library);
    const std::size_t failures = failures_at(at);
    run += at.experiments.size();
    failed += failures;
    std::string ratio = "-", grade = emulated ? "emulated" : "-";
    if (ours && library && !emulated) {
      ratios.push_back(library->median_ns / ours->median_ns);
      ratio = fmt::format("{:.2f}", ratios.back());
      grade = judge::name(judge::grade(ratios.back()));
    }
    section.table->add({at.point->label, time_of(ours), time_of(library), ratio, grade,
                        failures == 0 ? "" : fmt::format("{} FAILED", failures)});
  }
  const std::size_t right = run - failed;
  section.lines.push_back(fmt::format("{} of {} experiments are correct ({} %)", right, run,
                                      run == 0 ? 0 : 100 * right / run)); // rounded down
  if (emulated)
    section.lines.emplace_back("Our kernels are emulated on this CPU: their times are not a GPU's, "
                               "and get no ratio and no grade.");
  else if (!ratios.empty())
    section.lines.push_back(fmt::format("library / Kernelgrade: geometric mean {:.2f}, least "
                                        "{:.2f}, greatest {:.2f}, at {} points of {}",
                                        judge::geometric_mean(ratios),
                                        *std::min_element(ratios.begin(), ratios.end()),
                                        *std::max_element(ratios.begin(), ratios.end()),
                                        ratios.size(), record.header.points.size()));
  return section;
}

} // namespace kg::report
