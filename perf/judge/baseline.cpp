// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/baseline.h"

#include "perf/format/schema.h"
#include "runtime/atomic_file.h"
#include "runtime/dtype.h"
#include "runtime/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace kg::judge {
namespace {

std::optional<Complaint> a_mode(std::string_view field) {
  if (mode_named(field)) return std::nullopt;
  return Complaint{fmt::format("unknown mode '{}'", field), "use cold, hot, graph or real"};
}

std::optional<Complaint> a_status(std::string_view field) {
  if (status_named(field)) return std::nullopt;
  return Complaint{fmt::format("unknown status '{}'", field), "use gate, info or xfail"};
}

std::optional<Canary> parse_canary(std::string_view field) {
  const std::size_t colon = field.find(':');
  if (colon == field.npos) return std::nullopt;
  const auto kind = canary_named(field.substr(0, colon));
  const auto time = parse_number(field.substr(colon + 1));
  if (!kind || !time || *time <= 0 || *time > kGreatest) return std::nullopt;
  return Canary{*kind, *time};
}

std::optional<Complaint> a_canary_or_nothing(std::string_view field) {
  if (field.empty() || parse_canary(field)) return std::nullopt;
  return Complaint{fmt::format("'{}' is not a canary", field),
                   "write memory, compute, sync or launch, a colon and its time in nanoseconds"};
}

bool known_dtype(std::string_view word) {
  for (int i = 0; !name(static_cast<Dtype>(i)).empty(); ++i)
    if (name(static_cast<Dtype>(i)) == word) return true;
  return false;
}

// The order of these columns is the order of the fields in to_row and to_fields.
const Schema& timing_schema() {
  static const Schema schema = {"timing",
                                kTimingSchema,
                                {{"case", an_id, true},
                                 {"variant", an_id, true},
                                 {"mode", a_mode, true},
                                 {"median_ns", a_positive_number},
                                 {"ci_lo_ns", a_positive_number},
                                 {"ci_hi_ns", a_positive_number},
                                 {"process_medians_ns", positive_numbers},
                                 {"canary", a_canary_or_nothing},
                                 {"tol_pct", a_tolerance},
                                 {"status", a_status},
                                 {"bytes", a_number_from_zero},
                                 {"flops", a_number_from_zero},
                                 {"identity", any_text},
                                 {"why", any_text}}};
  return schema;
}

// Requires fields that have passed the schema's checks.
TimingRow to_row(const TableRow& checked) {
  const auto number = [](const std::string& text) { return parse_number(text).value(); };
  TimingRow row;
  row.line = checked.line;
  row.key.case_id = checked.fields[0];
  row.key.variant = checked.fields[1];
  row.key.mode = mode_named(checked.fields[2]).value();
  row.median_ns = number(checked.fields[3]);
  row.ci_ns = {number(checked.fields[4]), number(checked.fields[5])};
  row.process_medians_ns = split_numbers(checked.fields[6]);
  row.canary = parse_canary(checked.fields[7]);
  row.tol_pct = number(checked.fields[8]);
  row.status = status_named(checked.fields[9]).value();
  row.bytes = number(checked.fields[10]);
  row.flops = number(checked.fields[11]);
  row.identity = checked.fields[12];
  row.why = checked.fields[13];
  return row;
}

std::vector<std::string> to_fields(const TimingRow& row) {
  return {row.key.case_id,
          row.key.variant,
          std::string(name(row.key.mode)),
          csv_number(row.median_ns),
          csv_number(row.ci_ns.low),
          csv_number(row.ci_ns.high),
          join_numbers(row.process_medians_ns),
          row.canary
              ? fmt::format("{}:{}", name(row.canary->kind), csv_number(row.canary->median_ns))
              : "",
          csv_number(row.tol_pct),
          std::string(name(row.status)),
          csv_number(row.bytes),
          csv_number(row.flops),
          row.identity,
          row.why};
}

// Checks across columns.
std::vector<Complaint> complaints(const TimingRow& row, std::string_view op, Device device) {
  std::vector<Complaint> found;
  if (op_of(row.key.case_id) != op)
    found.push_back({fmt::format("case '{}' does not belong to op '{}'", row.key.case_id, op),
                     "move the row to its op's file"});
  else if (!known_dtype(dtype_of(row.key.case_id)))
    found.push_back({fmt::format("case '{}' names no dtype", row.key.case_id),
                     "a case id is <op>.<dtype>.<parameters>"});
  if (!(row.ci_ns.low <= row.median_ns && row.median_ns <= row.ci_ns.high))
    found.push_back({fmt::format("median_ns {} lies outside [{}, {}]", csv_number(row.median_ns),
                                 csv_number(row.ci_ns.low), csv_number(row.ci_ns.high)),
                     "delete the line, then measure and bless the row again"});
  if (device == Device::host && !row.canary)
    found.push_back({"canary: it is empty, but host rows are compared in canary units",
                     "delete the line, then measure and bless the row again"});
  return found;
}

} // namespace

TimingFile parse_timings(std::string_view contents, const std::string& path, Device device) {
  TimingFile file{path, true, {}, {}};
  Table table = read_table(timing_schema(), contents, path);
  file.problems = std::move(table.problems);
  const std::string op = std::filesystem::path(path).stem().string();
  for (const TableRow& checked : table.rows) {
    TimingRow row = to_row(checked);
    const std::vector<Complaint> found = complaints(row, op, device);
    for (const Complaint& complaint : found)
      file.problems.push_back({path, row.line, complaint.what, complaint.fix});
    if (found.empty()) file.rows.push_back(std::move(row));
  }
  std::stable_sort(file.problems.begin(), file.problems.end(),
                   [](const Problem& a, const Problem& b) { return a.line < b.line; });
  std::sort(file.rows.begin(), file.rows.end(),
            [](const TimingRow& a, const TimingRow& b) { return a.key < b.key; });
  return file;
}

TimingFile load_timings(const std::filesystem::path& path, Device device) {
  try {
    const std::optional<std::string> contents = read_file(path);
    if (!contents) return {path.string(), false, {}, {}};
    return parse_timings(*contents, path.string(), device);
  } catch (const Error& error) { // an unreadable file must not pass for a missing one
    return {path.string(), true, {}, {{path.string(), 0, error.what(), "make it readable"}}};
  }
}

std::string format_timings(const std::vector<TimingRow>& rows) {
  std::vector<std::vector<std::string>> fields;
  for (const TimingRow& row : rows) fields.push_back(to_fields(row));
  return write_table(timing_schema(), std::move(fields));
}

void save_timings(const std::filesystem::path& path, const std::vector<TimingRow>& rows,
                  Device device) {
  const std::string contents = format_timings(rows);
  const TimingFile reread = parse_timings(contents, path.string(), device);
  if (!reread.problems.empty())
    throw Error("not written, since it could not be read again:\n" + text(reread.problems));
  write_file(path, contents);
}

bool is_orphan(const TimingRow& row, const std::set<RowKey>& registered) {
  if (registered.contains(row.key)) return false;
  return row.status != Status::info ||
         std::none_of(registered.begin(), registered.end(), [&](const RowKey& key) {
           return key.case_id == row.key.case_id && key.mode == row.key.mode;
         });
}

} // namespace kg::judge
