// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/result.h"

#include "perf/format/json_reader.h"
#include "perf/format/sinks.h"
#include "perf/judge/exact_result.h"
#include "perf/judge/shards.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace kg::judge {
namespace {

using nlohmann::json;

// A row's median and interval, from its processes' medians. With a single process, from its
// samples.
void settle(Measured& row) {
  const std::vector<double>& values =
      row.process_medians_ns.size() > 1 ? row.process_medians_ns : row.samples_ns;
  row.median_ns = median(values);
  row.ci_ns = median_interval(values, kConfidence).interval;
}

void require_same(bool same, const Measured& row, std::string_view what) {
  require(same, fmt::format("{}: two runs differ in its {}; merge runs of one build only",
                            text(row.key), what));
}

// The median of the known values.
double pooled_time(const std::vector<const Measured*>& parts, double Measured::*time) {
  std::vector<double> known;
  for (const Measured* part : parts)
    if (part->*time > 0) known.push_back(part->*time);
  return known.empty() ? 0 : median(known);
}

// All rows have one key, and there is at least one.
Measured pooled(const std::vector<const Measured*>& parts) {
  Measured row = *parts.front();
  row.process_medians_ns.clear();
  std::vector<double> canaries;
  std::vector<double> canary_widths;
  for (const Measured* part : parts) {
    if (!part->canary) continue;
    canaries.push_back(part->canary->median_ns);
    canary_widths.push_back(part->canary->half_width);
  }
  for (const Measured* part : parts) {
    require_same(part->op == row.op && part->dtype == row.dtype, row, "op or dtype");
    require_same(part->category == row.category && part->kind == row.kind, row, "category or kind");
    require_same(part->bytes == row.bytes && part->written == row.written &&
                     part->flops == row.flops && part->tf32 == row.tf32,
                 row, "bytes or flops");
    require_same(part->identity == row.identity, row, "identity");
    require_same(part->skipped.empty() == row.skipped.empty(), row, "reason to be skipped");
    require_same(part->canary.has_value() == row.canary.has_value() &&
                     (!row.canary || part->canary->kind == row.canary->kind),
                 row, "canary");
    row.peak_bytes = std::max(row.peak_bytes, part->peak_bytes);
    if (row.verified.empty()) row.verified = part->verified; // one wrong output is enough
    if (row.note.empty()) row.note = part->note;
    // The placement of a process's pages and threads affects its row and its canary equally. In
    // units of the canary, processes agree several times better.
    const double speed = part->canary ? median(canaries) / part->canary->median_ns : 1;
    for (const double ns : part->process_medians_ns) row.process_medians_ns.push_back(ns * speed);
    if (part == parts.front()) continue;
    row.samples_ns.insert(row.samples_ns.end(), part->samples_ns.begin(), part->samples_ns.end());
    for (const auto& [tag, value] : part->tags) // all that was seen, not only what was seen first
      if (const auto [at, is_new] = row.tags.emplace(tag, value); !is_new && at->second != value)
        at->second += "; " + value;
  }
  if (parts.size() == 1) return row;
  row.turn_medians_ns.clear(); // turns of different processes do not correspond
  for (const auto time : {&Measured::setup_ns, &Measured::first_call_ns, &Measured::jit_ns})
    row.*time = pooled_time(parts, time);
  if (row.canary) {
    row.canary->median_ns = median(canaries);
    row.canary->half_width = median(canary_widths);
  }
  if (!row.process_medians_ns.empty()) settle(row);
  return row;
}

json to_json(const Measured& row) {
  json result = {{"op", row.op},
                 {"dtype", row.dtype},
                 {"case", row.key.case_id},
                 {"variant", row.key.variant},
                 {"mode", name(row.key.mode)},
                 {"category", row.category},
                 {"kind", name(row.kind)},
                 {"bytes", row.bytes},
                 {"written", row.written},
                 {"flops", row.flops},
                 {"setup_ns", row.setup_ns},
                 {"first_call_ns", row.first_call_ns},
                 {"jit_ns", row.jit_ns},
                 {"peak_bytes", row.peak_bytes},
                 {"identity", row.identity},
                 {"verified", row.verified},
                 {"skipped", row.skipped},
                 {"note", row.note},
                 {"tags", row.tags}};
  if (row.tf32) result["precision"] = "tf32";
  if (row.canary)
    result["canary"] = {{"kind", name(row.canary->kind)},
                        {"median_ns", row.canary->median_ns},
                        {"half_width", row.canary->half_width}};
  // A row that failed before it could be timed has no samples either.
  const bool failed = !row.verified.empty() && row.samples_ns.empty();
  if (!row.skipped.empty() || failed) return result;
  result["median_ns"] = row.median_ns;
  result["ci_lo_ns"] = row.ci_ns.low;
  result["ci_hi_ns"] = row.ci_ns.high;
  result["process_medians_ns"] = row.process_medians_ns;
  result["samples_ns"] = row.samples_ns;
  if (!row.turn_medians_ns.empty()) result["turn_medians_ns"] = row.turn_medians_ns;
  return result;
}

// Refuses a median or limits of its interval outside the range of the samples, or, with several
// processes, of the processes' medians.
void require_consistent(const Measured& row, const JsonObject& object) {
  constexpr double kPrinted = 1e-5; // values may be printed with six digits
  const bool pooled = row.process_medians_ns.size() > 1;
  const std::vector<double>& values = pooled ? row.process_medians_ns : row.samples_ns;
  if (values.size() < 2) return; // too few for an interval: the gate says so
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double slack = kPrinted * std::max(std::fabs(*least), std::fabs(*most));
  for (const auto& [member, value] :
       {std::pair{"median_ns", row.median_ns}, std::pair{"ci_lo_ns", row.ci_ns.low},
        std::pair{"ci_hi_ns", row.ci_ns.high}})
    if (!(value >= *least - slack && value <= *most + slack))
      object.fail(member,
                  fmt::format("is {:g}, and the {} lie in [{:g}, {:g}]", value,
                              pooled ? "medians of its processes" : "samples", *least, *most),
                  "measure again");
}

Measured to_measured(JsonObject object) {
  Measured row;
  row.op = object.text("op");
  row.dtype = object.text("dtype");
  row.key.case_id = object.text("case");
  row.key.variant = object.text("variant");
  row.key.mode = object.known("mode", mode_named(object.text("mode")), "cold, hot, graph or real");
  row.category = object.text("category");
  row.kind = object.known("kind", kind_named(object.text("kind")), "`ours` or `vendor`");
  row.bytes = object.from_zero("bytes");
  row.flops = object.from_zero("flops");
  // Older files lack these members.
  const auto if_known = [&](const char* member) {
    return object.has(member) ? object.from_zero(member) : 0;
  };
  row.setup_ns = if_known("setup_ns");
  row.first_call_ns = if_known("first_call_ns");
  row.jit_ns = if_known("jit_ns");
  row.peak_bytes = if_known("peak_bytes");
  row.written = if_known("written");
  if (object.has("precision"))
    row.tf32 = object.known("precision",
                            object.text("precision") == "tf32" ? std::optional(true) : std::nullopt,
                            "tf32, or leave the member out");
  row.identity = object.text("identity");
  row.verified = object.text("verified");
  row.skipped = object.text("skipped");
  row.note = object.text("note");
  row.tags = object.texts("tags");
  if (object.has("canary")) {
    JsonObject canary = object.object("canary");
    row.canary = {
        canary.known("kind", canary_named(canary.text("kind")), "memory, compute, sync or launch"),
        canary.positive("median_ns"), canary.from_zero("half_width")};
    if (row.canary->half_width > kWidestCanary)
      canary.fail("half_width",
                  fmt::format("is {:g} of its median; at most {:g} is a measurement",
                              row.canary->half_width, kWidestCanary),
                  "measure again on a quieter machine");
    canary.done();
  }
  const bool failed = !row.verified.empty() && !object.has("samples_ns");
  if (row.skipped.empty() && !failed) {
    row.median_ns = object.positive("median_ns");
    row.ci_ns = {object.positive("ci_lo_ns"), object.positive("ci_hi_ns")};
    row.process_medians_ns = object.positives("process_medians_ns");
    // Slopes of two graphs scatter around the time; a single one may be negative.
    row.samples_ns =
        row.key.mode == Mode::graph ? object.numbers("samples_ns") : object.positives("samples_ns");
    if (object.has("turn_medians_ns")) row.turn_medians_ns = object.positives("turn_medians_ns");
    if (!(row.ci_ns.low <= row.median_ns && row.median_ns <= row.ci_ns.high))
      object.fail("median_ns", "lies outside its interval", "measure again");
    require_consistent(row, object);
  }
  object.done();
  return row;
}

// An array with a line for each element.
std::string by_line(const json& list) {
  std::string text;
  for (const json& element : list) text += (text.empty() ? "[\n" : ",\n") + for_json(element);
  return text.empty() ? "[]" : text + "\n]";
}

void read_counts(JsonObject& object, Results& run) {
  if (object.has("costs")) run.costs = exact_rows(cost_table(), object, "costs");
  if (!object.has("resources")) return;
  object.each("resources", [&](JsonObject one) {
    const std::string name = one.text("compiled_for");
    append(run.resources[name], exact_rows(resource_table(), one, "rows"));
    one.done();
  });
}

} // namespace

MeasuredCanary measured_canary(CanaryKind kind, std::span<const double> ns) {
  const double centre = median(ns);
  const double width = half_width(median_interval(ns, kConfidence).interval, centre);
  return {kind, centre, std::min(width, kWidestCanary)};
}

void take_samples(Measured& row, std::vector<double> samples_ns) {
  row.samples_ns = std::move(samples_ns);
  row.process_medians_ns = {median(row.samples_ns)};
  settle(row);
}

Results merge(std::span<const Results> runs) {
  Results merged;
  std::map<RowKey, std::vector<const Measured*>> parts;
  for (const Results& run : runs) {
    for (const auto& [key, value] : run.environment) {
      const auto [at, is_new] = merged.environment.emplace(key, value);
      require(is_new || at->second == value,
              fmt::format("environment: {} is '{}' in one run and '{}' in another; merge runs of "
                          "one machine and build only",
                          key, at->second, value));
    }
    for (const Measured& row : run.rows) parts[row.key].push_back(&row);
    append(merged.costs, run.costs);
    for (const auto& [name, rows] : run.resources) append(merged.resources[name], rows);
  }
  for (const auto& [key, rows] : parts) merged.rows.push_back(pooled(rows));
  return merged;
}

// A row per line: they are many, and a diff should still show which row moved.
std::string to_json(const Results& run) {
  std::string contents = fmt::format("{{\"schema\":{},\n\"environment\":{},\n\"rows\":[",
                                     kResultsSchema, for_json(run.environment));
  for (const Measured& row : run.rows)
    contents += (&row == &run.rows.front() ? "\n" : ",\n") + for_json(to_json(row));
  contents += "\n]";
  // Older files, and files of timings only, lack these members.
  if (!run.costs.empty()) contents += ",\n\"costs\":" + by_line(to_json(cost_table(), run.costs));
  if (!run.resources.empty()) {
    json all = json::array();
    for (const auto& [name, rows] : run.resources)
      all.push_back({{"compiled_for", name}, {"rows", to_json(resource_table(), rows)}});
    contents += ",\n\"resources\":" + by_line(all);
  }
  if (run.shard) contents += ",\n\"shard\":" + for_json(to_json(*run.shard));
  return contents + "}\n";
}

Results results_from_json(std::string_view contents, const std::string& file) {
  const json parsed = parse_json(contents, file);
  JsonObject object(parsed, file);
  object.version(kResultsSchema);
  Results run;
  run.environment = object.texts("environment");
  std::set<RowKey> seen;
  object.each("rows", [&](JsonObject row) {
    run.rows.push_back(to_measured(row));
    if (!seen.insert(run.rows.back().key).second)
      row.fail("case", fmt::format("repeats the row {}", text(run.rows.back().key)),
               "keep the correct one");
  });
  read_counts(object, run);
  if (object.has("shard")) run.shard = shard_from_json(object.object("shard"));
  object.done();
  return run;
}

void save_results(const std::filesystem::path& path, const Results& run) {
  write_file(path, to_json(run));
}

Results load_results(const std::filesystem::path& path) {
  const std::optional<std::string> contents = read_file(path);
  if (!contents) throw Error(path.string() + ": no such file; measure with --json first");
  return results_from_json(*contents, path.string());
}

} // namespace kg::judge
