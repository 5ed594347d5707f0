// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/bless.h"

#include "perf/format/table.h"
#include "perf/format/units.h"
#include "perf/judge/limits.h"
#include "perf/judge/wording.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace kg::judge {
namespace {

std::optional<std::string> noise(const Measured& row, const Limits& limit) {
  if (row.samples_ns.size() < kFewestSamples)
    return fmt::format("{} samples have no 99 % interval; take at least {}", row.samples_ns.size(),
                       kFewestSamples);
  if (const double width = half_width(row.ci_ns, row.median_ns); width > limit.bless_half_width)
    return fmt::format("it is noisy: +-{:.1f} % where +-{:g} % is allowed; quieten the machine or "
                       "measure longer",
                       100 * width, 100 * limit.bless_half_width);
  if (row.canary && row.canary->half_width > limit.canary_half_width)
    return fmt::format("its canary is noisy: +-{:.1f} % where +-{:g} % is allowed; quieten the "
                       "machine",
                       100 * row.canary->half_width, 100 * limit.canary_half_width);
  return std::nullopt;
}

// Rows of one file are compared with each other and with later runs, so they should come from one
// machine in one state. A reason, such as a new driver, overrides this.
std::optional<std::string> other_speed(const Measured& row, const BlessOptions& options) {
  if (!row.canary || !options.why.empty()) return std::nullopt;
  const auto at = options.canaries_ns.find(std::string(name(row.canary->kind)));
  if (at == options.canaries_ns.end()) return std::nullopt;
  const double drift = row.canary->median_ns / at->second;
  const double factor = limits(options.device).canary_factor;
  if (drift <= factor && drift >= 1 / factor) return std::nullopt;
  return fmt::format("its {} canary takes {:.3f}x the time in device.json, where {:g}x is allowed; "
                     "the machine has another speed today: say --why",
                     at->first, drift, factor);
}

Status status_of(const Measured& row, const TimingRow* old, const BlessOptions& options) {
  // A library's time may change with its version, which is not a regression of our kernels.
  const Status first = row.kind == Kind::vendor ? Status::info : Status::gate;
  return options.status.value_or(old ? old->status : first);
}

// Why this row cannot become a baseline; empty if it can.
std::optional<std::string> refusal(const Measured& row, const TimingRow* old,
                                   const BlessOptions& options) {
  if (!row.skipped.empty()) return "it was not measured: " + row.skipped;
  if (const auto fault = defect(row, options.device)) return fault;
  if (const auto tag = row.tags.find(kInjectedTag); tag != row.tags.end())
    return fmt::format("it was slowed down on purpose ({}); unset KERNELGRADE_INJECT", tag->second);
  if (row.tags.contains(kUnlistedTag))
    return "its shape is not listed, so no gate would measure it; add it to the operation's shapes";
  if (const auto fault = disturbance(row)) return *fault + "; quieten the device";
  if (const auto fault = beyond_roof(row, options.ceilings)) return fault;
  if (row.kind == Kind::vendor) return std::nullopt; // informational, so its noise is harmless
  const Limits& limit = limits(options.device);
  if (const auto fault = noise(row, limit)) return fault;
  if (const auto fault = other_speed(row, options)) return fault;
  if (const std::size_t processes = row.process_medians_ns.size();
      processes < limit.bless_processes && status_of(row, old, options) == Status::gate)
    return fmt::format("it was measured in {} process{}; a row that can fail takes {}: --processes "
                       "{}",
                       processes, processes == 1 ? "" : "es", limit.bless_processes,
                       limit.bless_processes);
  const Modes found = modes(row.process_medians_ns, limit.bimodal_gap);
  if (found.count == 2 && !options.accept_bimodal)
    return fmt::format("it has two modes, {} and {}; find out why, or --accept-bimodal",
                       time_text(found.low), time_text(found.high));
  return std::nullopt;
}

TimingRow to_timing(const Measured& row, const TimingRow* old, const BlessOptions& options) {
  TimingRow blessed;
  blessed.key = row.key;
  blessed.median_ns = row.median_ns;
  blessed.ci_ns = row.ci_ns;
  blessed.process_medians_ns = row.process_medians_ns;
  if (row.canary) blessed.canary = Canary{row.canary->kind, row.canary->median_ns};
  blessed.status = status_of(row, old, options);
  blessed.tol_pct = options.tol_pct.value_or(old ? old->tol_pct : limits(options.device).tol_pct);
  blessed.bytes = row.bytes;
  blessed.flops = row.flops;
  blessed.identity = row.identity;
  blessed.why = options.why;
  if (blessed.why.empty()) blessed.why = old ? old->why : kFirstWhy;
  return blessed;
}

// Whether two rows are equal as written, except for the reason.
bool same_when_written(TimingRow a, const TimingRow& b) {
  a.why = b.why;
  return format_timings({a}) == format_timings({b});
}

double cost_of(const TimingRow& row, Device device) {
  return device == Device::host && row.canary ? row.median_ns / row.canary->median_ns
                                              : row.median_ns;
}

// Decides on one measured row and, if it is blessed, adds it to `rows`.
BlessEntry bless_row(std::map<RowKey, TimingRow>& rows, const Measured& measured,
                     const BlessOptions& options) {
  const auto at = rows.find(measured.key);
  const TimingRow* old = at == rows.end() ? nullptr : &at->second;
  BlessEntry entry{measured.key,       BlessAction::refused, old ? old->median_ns : 0,
                   measured.median_ns, std::nullopt,         ""};
  if (const auto reason = refusal(measured, old, options)) {
    entry.reason = *reason;
    return entry;
  }
  TimingRow blessed = to_timing(measured, old, options);
  if (!old) {
    entry.action = BlessAction::added;
    rows.emplace(measured.key, std::move(blessed));
    return entry;
  }
  entry.ratio = cost_of(*old, options.device) / cost_of(blessed, options.device);
  if (same_when_written(blessed, *old)) {
    entry.action = BlessAction::unchanged;
    return entry;
  }
  if (options.why.empty()) {
    entry.reason = fmt::format("it is blessed already and {}; say --why",
                               *entry.ratio < 1 ? "has become slower" : "has changed");
    return entry;
  }
  entry.action = BlessAction::changed;
  at->second = std::move(blessed);
  return entry;
}

void remove_orphans(std::map<RowKey, TimingRow>& rows, const std::set<RowKey>& registered,
                    std::vector<BlessEntry>& entries) {
  for (auto at = rows.begin(); at != rows.end();) {
    if (!is_orphan(at->second, registered)) {
      ++at;
      continue;
    }
    entries.push_back({at->first, BlessAction::removed, at->second.median_ns, 0, std::nullopt, ""});
    at = rows.erase(at);
  }
}

} // namespace

std::string_view name(BlessAction action) {
  switch (action) {
  case BlessAction::added: return "added";
  case BlessAction::changed: return "changed";
  case BlessAction::unchanged: return "unchanged";
  case BlessAction::removed: return "removed";
  case BlessAction::refused: return "refused";
  }
  return "";
}

bool BlessPlan::changes() const { return faults.empty() && any_write(entries); }

int BlessPlan::exit_code() const { return any_refused(entries) || !faults.empty() ? 1 : 0; }

BlessPlan plan_bless(const TimingFile& file, const std::vector<Measured>& measured,
                     const BlessOptions& options) {
  BlessPlan plan;
  for (const Problem& problem : file.problems) plan.faults.push_back(text(problem));
  if (measured.empty() && !options.remove_orphans_beside)
    plan.faults.push_back("no rows to bless; check the filters");

  std::map<RowKey, TimingRow> rows;
  for (const TimingRow& row : file.rows) rows.emplace(row.key, row);
  std::set<RowKey> seen;
  for (const Measured& row : measured) {
    if (seen.insert(row.key).second)
      plan.entries.push_back(bless_row(rows, row, options));
    else
      plan.faults.push_back(text(row.key) + ": measured twice; merge runs before blessing them");
  }
  if (options.remove_orphans_beside)
    remove_orphans(rows, *options.remove_orphans_beside, plan.entries);
  std::stable_sort(plan.entries.begin(), plan.entries.end(),
                   [](const BlessEntry& a, const BlessEntry& b) { return a.key < b.key; });
  for (auto& [key, row] : rows) plan.rows.push_back(std::move(row));
  return plan;
}

void carry_out(const BlessPlan& plan, const std::filesystem::path& path, Device device) {
  if (plan.changes()) save_timings(path, plan.rows, device);
}

std::string text(const BlessPlan& plan) {
  const auto time = [](double ns) { return ns > 0 ? time_text(ns) : std::string("-"); };
  TextTable table({"row", "old", "new", "old/new", "what", ""});
  for (const BlessEntry& entry : plan.entries)
    table.add({text(entry.key), time(entry.old_ns), time(entry.new_ns),
               entry.ratio ? fmt::format("{:.3f}", *entry.ratio) : "-",
               std::string(name(entry.action)), entry.reason});
  std::string result = table.plain();
  for (const std::string& fault : plan.faults)
    result += fmt::format("nothing is written: {}\n", fault);
  return result;
}

} // namespace kg::judge
