// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/message.h"

#include "perf/format/units.h"
#include "perf/judge/limits.h"
#include "perf/judge/roof.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

namespace kg::judge {
namespace {

std::string identity_text(const Measured& measured, const TimingRow& baseline) {
  const Same same = same_identity(measured, baseline);
  if (measured.kind == Kind::vendor) {
    if (same == Same::unknown) return "Whether the library changed is unknown";
    if (same == Same::yes) return "Library unchanged: " + measured.identity;
    return fmt::format("Another library: {} blessed, {} here", baseline.identity,
                       measured.identity);
  }
  switch (same) {
  case Same::yes: return "Machine code and launches unchanged";
  case Same::no: return "Machine code or launches changed";
  case Same::unknown: break;
  }
  return "Whether machine code or launches changed is unknown";
}

} // namespace

RowResult result_for(const Registered& row) {
  RowResult result;
  result.op = row.op;
  result.dtype = row.dtype;
  result.key = row.key;
  result.category = row.category;
  result.kind = row.kind;
  result.informs = row.kind == Kind::vendor;
  return result;
}

RowResult result_for(const Measured& row) {
  return result_for(Registered{row.op, row.dtype, row.key, row.category, row.kind, true});
}

std::string machine_text(const std::map<std::string, std::string>& tags) {
  std::vector<std::string> parts;
  for (const char* tag :
       {"sm_mhz", "mem_mhz", "power_w", "temp_c", "throttle", "foreign_processes"})
    if (const auto at = tags.find(tag); at != tags.end())
      parts.push_back(fmt::format("{} {}", tag, at->second));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string figures(const RowResult& row, const Measured& measured, const TimingRow& baseline,
                    const Comparison& comparison, double detectable_pct,
                    const GateOptions& options) {
  const std::size_t processes = measured.process_medians_ns.size();
  std::vector<std::string> parts = {
      fmt::format("{} now, {} blessed", time_text(row.measured_ns), time_text(row.baseline_ns)),
      fmt::format("{} samples in {} process{} would find {:.1f} %",
                  measured.samples_ns.size(), processes, processes == 1 ? "" : "es",
                  detectable_pct)};
  if (const Modes found = modes(measured.process_medians_ns, limits(options.device).bimodal_gap);
      found.count == 2)
    parts.push_back(
        fmt::format("Two modes: {} and {}", time_text(found.low), time_text(found.high)));
  parts.push_back(canary_text(comparison, measured));
  if (!options.other_machine.empty())
    parts.push_back("Not the blessed machine: " + options.other_machine);
  parts.push_back(identity_text(measured, baseline));
  if (const auto roof = roof_share(measured, options.ceilings))
    parts.push_back(fmt::format("{:.0f} % of the roof", 100 * *roof));
  if (std::string machine = machine_text(measured.tags); !machine.empty())
    parts.push_back(std::move(machine));
  if (!measured.note.empty()) parts.push_back(measured.note);
  return fmt::format("{}", fmt::join(parts, ". "));
}

void conclude(RowResult& row, Verdict verdict, const std::string& words, std::string_view command) {
  row.verdict = verdict;
  row.exit_code = usual_exit(verdict);
  row.words = words;
  row.grade.reset();
  if (row.ratio && row.exit_code != kExitSkip) row.grade = grade(*row.ratio);
  row.reason = words;
  if (!row.figures.empty())
    row.reason += fmt::format(
        ". {}{}: {}", row.ratio_words,
        row.grade ? " (" + grade_text(*row.grade, row.ratio_interval) + ")" : "", row.figures);
  row.message = fmt::format("{}: {}: {}; {}: {}", text(row.key), name(verdict), row.reason,
                            command == "bless" ? "bless" : "again",
                            row_command(command, row.op, row.dtype, row.key));
}

} // namespace kg::judge
