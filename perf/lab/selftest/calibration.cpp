// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/selftest/calibration.h"

#include "perf/format/schema.h"
#include "perf/judge/statistics.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace kg::selftest {
namespace {

using judge::Complaint;

constexpr const char* kRunAgain = "delete the file and run `kernelgrade selftest` again";

std::optional<std::size_t> parse_count(std::string_view field) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size()) return std::nullopt;
  return value;
}

std::optional<Complaint> a_count(std::string_view field) {
  if (parse_count(field)) return std::nullopt;
  return Complaint{fmt::format("'{}' is not a whole number >= 0", field), kRunAgain};
}

std::optional<Complaint> a_rate(std::string_view field) {
  const std::optional<double> value = judge::parse_number(field);
  if (value && *value >= 0 && *value <= 1) return std::nullopt;
  return Complaint{fmt::format("'{}' is not a number from 0 to 1", field), kRunAgain};
}

std::optional<std::chrono::sys_days> day_of(std::string_view date) {
  int year = 0, hour = 0, minute = 0, second = 0, length = 0;
  unsigned month = 0, day = 0;
  const std::string text(date);
  if (std::sscanf(text.c_str(), "%4d-%2u-%2uT%2d:%2d:%2dZ%n", &year, &month, &day, &hour, &minute,
                  &second, &length) != 6 ||
      static_cast<std::size_t>(length) != text.size())
    return std::nullopt;
  const std::chrono::year_month_day found =
      std::chrono::year(year) / static_cast<int>(month) / std::chrono::day(day);
  if (!found.ok()) return std::nullopt;
  return std::chrono::sys_days(found);
}

std::optional<Complaint> a_date(std::string_view field) {
  if (day_of(field)) return std::nullopt;
  return Complaint{fmt::format("'{}' is not a date", field),
                   "write it as 2026-11-21T08:00:00Z, in UTC"};
}

std::optional<Complaint> a_device(std::string_view field) {
  const bool allowed = !field.empty() && std::all_of(field.begin(), field.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
  if (allowed) return std::nullopt;
  return Complaint{fmt::format("'{}' is not a device", field),
                   "name it as its folder is called, as in nvidia-h200"};
}

const judge::Schema& schema() {
  static const judge::Schema table = {"calibration",
                                      kCalibrationSchema,
                                      {{"device", a_device, true},
                                       {"backend", judge::an_id, true},
                                       {"experiment", judge::an_id, true},
                                       {"rows", judge::an_id, true},
                                       {"rule", judge::an_id, true},
                                       {"rows_checked", a_count},
                                       {"flagged", a_count},
                                       {"inconclusive", a_count},
                                       {"rate", a_rate},
                                       {"ci_low", a_rate},
                                       {"ci_high", a_rate},
                                       {"confidence", a_rate},
                                       {"sd_process_pct", judge::a_number_from_zero},
                                       {"date_utc", a_date},
                                       {"source", judge::any_text}}};
  return table;
}

std::vector<std::string> fields_of(const CalibrationRow& row) {
  return {row.device,
          row.backend,
          row.experiment,
          row.rows,
          row.rule,
          std::to_string(row.rows_checked),
          std::to_string(row.flagged),
          std::to_string(row.inconclusive),
          judge::csv_number(row.rate()),
          judge::csv_number(row.low()),
          judge::csv_number(row.high()),
          judge::csv_number(kCalibrationConfidence),
          judge::csv_number(row.sd_process_pct),
          row.date_utc,
          row.source};
}

// A row whose fields are individually well-formed.
CalibrationRow row_of(const std::vector<std::string>& fields) {
  CalibrationRow row;
  row.device = fields[0];
  row.backend = fields[1];
  row.experiment = fields[2];
  row.rows = fields[3];
  row.rule = fields[4];
  row.rows_checked = *parse_count(fields[5]);
  row.flagged = *parse_count(fields[6]);
  row.inconclusive = *parse_count(fields[7]);
  row.sd_process_pct = *judge::parse_number(fields[12]);
  row.date_utc = fields[13];
  row.source = fields[14];
  return row;
}

std::string joined_sources(const std::string& a, const std::string& b) {
  std::set<std::string> sources;
  for (std::string_view rest : {std::string_view(a), std::string_view(b)})
    for (bool more = true; more;) {
      const std::size_t end = rest.find(';');
      sources.emplace(rest.substr(0, end));
      more = end != rest.npos;
      if (more) rest.remove_prefix(end + 1);
    }
  std::string joined;
  for (const std::string& source : sources) joined += (joined.empty() ? "" : ";") + source;
  return joined;
}

} // namespace

double CalibrationRow::rate() const {
  return static_cast<double>(flagged) / static_cast<double>(rows_checked);
}
double CalibrationRow::high() const {
  return judge::clopper_pearson_upper(flagged, rows_checked, kCalibrationConfidence);
}
// P(X >= flagged) at rate p is P(X' <= rows_checked - flagged) of rows not flagged, at 1 - p.
double CalibrationRow::low() const {
  return 1 -
         judge::clopper_pearson_upper(rows_checked - flagged, rows_checked, kCalibrationConfidence);
}

CalibrationFile load_calibration(const std::filesystem::path& path) {
  const std::optional<std::string> contents = read_file(path);
  if (!contents) return {path.string(), false, {}, {}};
  return parse_calibration(*contents, path.string());
}

CalibrationFile parse_calibration(std::string_view contents, const std::string& path) {
  judge::Table table = judge::read_table(schema(), contents, path);
  CalibrationFile file{path, true, {}, std::move(table.problems)};
  for (const judge::TableRow& found : table.rows) {
    const CalibrationRow row = row_of(found.fields);
    if (row.rows_checked == 0 || row.flagged + row.inconclusive > row.rows_checked) {
      file.problems.push_back({path, found.line,
                               fmt::format("{} flagged and {} inconclusive of {} rows", row.flagged,
                                           row.inconclusive, row.rows_checked),
                               kRunAgain});
      continue;
    }
    const std::vector<std::string> expected = fields_of(row);
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (found.fields[i] != expected[i])
        file.problems.push_back(
            {path, found.line,
             fmt::format("{}: '{}' does not follow from the counts, which make it {}",
                         schema().columns[i].name, found.fields[i], expected[i]),
             kRunAgain});
    file.rows.push_back(row);
  }
  return file;
}

std::string format_calibration(const std::vector<CalibrationRow>& rows) {
  std::vector<std::vector<std::string>> fields;
  for (const CalibrationRow& row : rows) fields.push_back(fields_of(row));
  return judge::write_table(schema(), std::move(fields));
}

std::vector<CalibrationRow> pool(std::span<const CalibrationRow> rows) {
  using Key = std::tuple<std::string, std::string, std::string, std::string, std::string>;
  std::map<Key, CalibrationRow> pooled;
  for (const CalibrationRow& row : rows) {
    const Key key = {row.device, row.backend, row.experiment, row.rows, row.rule};
    const auto [at, is_new] = pooled.emplace(key, row);
    if (is_new) continue;
    CalibrationRow& sum = at->second;
    const auto before = static_cast<double>(sum.rows_checked);
    const auto added = static_cast<double>(row.rows_checked);
    sum.sd_process_pct =
        (before * sum.sd_process_pct + added * row.sd_process_pct) / (before + added);
    sum.rows_checked += row.rows_checked;
    sum.flagged += row.flagged;
    sum.inconclusive += row.inconclusive;
    sum.date_utc = std::max(sum.date_utc, row.date_utc); // ISO 8601 dates sort as text
    sum.source = joined_sources(sum.source, row.source);
  }
  std::vector<CalibrationRow> result;
  for (auto& [key, row] : pooled) result.push_back(std::move(row));
  return result;
}

std::string calibration_note(const CalibrationFile& file, const std::string& now) {
  const std::string fix = "; see `kernelgrade selftest --help`";
  if (!file.exists)
    return fmt::format("note: {} does not exist: how often this gate errs here is not known{}",
                       file.path, fix);
  if (!file.problems.empty())
    return fmt::format("note: the calibration is malformed: {}", judge::text(file.problems[0]));
  const auto row = std::find_if(file.rows.begin(), file.rows.end(), [](const CalibrationRow& r) {
    return r.experiment == "aa" && r.rows == "all" && r.rule == kOurRule;
  });
  if (row == file.rows.end())
    return fmt::format("note: {} has no row for false alarms (aa, all, {}){}", file.path, kOurRule,
                       fix);
  const std::optional<std::chrono::sys_days> today = day_of(now);
  require(today.has_value(), "calibration_note: '" + now + "' is not a date; pass perf::utc_now()");
  if (const auto days = (*today - *day_of(row->date_utc)).count(); days > kCalibrationDays)
    return fmt::format("note: {} is {} days old, more than {}{}", file.path, days, kCalibrationDays,
                       fix);
  if (row->high() > kFalseAlarmTarget)
    return fmt::format(
        "note: {} shows {} false alarms in {} rows, at most {:.2g} % of rows at {:g} "
        "% confidence, where {:g} % is promised{}",
        file.path, row->flagged, row->rows_checked, 100 * row->high(), 100 * kCalibrationConfidence,
        100 * kFalseAlarmTarget, fix);
  return "";
}

} // namespace kg::selftest
