// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/format/schema.h"

#include "perf/format/sinks.h"
#include "runtime/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <map>
#include <utility>

namespace kg::judge {
namespace {

constexpr std::string_view kVersionColumn = "schema";

using Key = std::vector<std::string>;

Key key_of(const Schema& schema, const std::vector<std::string>& fields) {
  Key key;
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (schema.columns[i].key) key.push_back(fields[i]);
  return key;
}

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

// The position in the file of each of the schema's columns, and last of the version. Empty for a
// missing optional column.
struct Layout {
  std::vector<std::size_t> positions;
  std::size_t version = 0;
  std::size_t width = 0;
};

class TableReader {
 public:
  TableReader(const Schema& schema, const std::string& file) : schema_(schema), file_(file) {}

  Table read(Csv csv) {
    table_.problems = std::move(csv.problems);
    if (csv.records.empty() || csv.records.front().line != 1) // no valid header: already reported
      return std::move(table_);
    const std::optional<Layout> layout = read_header(csv.records.front());
    if (!layout) tell_version(csv);
    if (layout)
      for (std::size_t i = 1; i < csv.records.size(); ++i) read_row(*layout, csv.records[i]);
    std::stable_sort(table_.problems.begin(), table_.problems.end(),
                     [](const Problem& a, const Problem& b) { return a.line < b.line; });
    return std::move(table_);
  }

 private:
  void report(std::size_t line, std::string what, std::string fix) {
    table_.problems.push_back({file_, line, std::move(what), std::move(fix)});
  }

  std::string expected_columns() const {
    std::string list(kVersionColumn);
    for (const Column& column : schema_.columns) list += fmt::format(",{}", column.name);
    return list;
  }

  std::optional<Layout> read_header(const CsvRecord& header) {
    const std::size_t before = table_.problems.size();
    std::map<std::string, std::size_t, std::less<>> positions;
    for (std::size_t i = 0; i < header.fields.size(); ++i) {
      const std::string& found = header.fields[i];
      const bool known = found == kVersionColumn ||
                         std::any_of(schema_.columns.begin(), schema_.columns.end(),
                                     [&](const Column& column) { return column.name == found; });
      if (!known)
        report(header.line, fmt::format("unknown column '{}'", found),
               fmt::format("a {} table has the columns {}", schema_.name, expected_columns()));
      if (!positions.emplace(found, i).second)
        report(header.line, fmt::format("column '{}' appears twice", found), "remove one of them");
    }
    Layout layout;
    layout.width = header.fields.size();
    const auto place = [&](std::string_view column, bool optional) -> std::size_t {
      const auto at = positions.find(column);
      if (at != positions.end()) return at->second;
      if (optional) return kNowhere;
      report(
          header.line, fmt::format("column '{}' is missing", column),
          fmt::format("a {} table has the columns {}; if an older program wrote the file, delete "
                      "it and bless its rows anew",
                      schema_.name, expected_columns()));
      return 0;
    };
    layout.version = place(kVersionColumn, false);
    for (const Column& column : schema_.columns)
      layout.positions.push_back(place(column.name, column.optional));
    if (table_.problems.size() > before) return std::nullopt;
    return layout;
  }

  // For a file of another version, one line with the cause replaces a complaint per column.
  void tell_version(const Csv& csv) {
    const std::vector<std::string>& header = csv.records.front().fields;
    const auto at = std::find(header.begin(), header.end(), kVersionColumn);
    if (at == header.end() || csv.records.size() < 2) return;
    const auto place = static_cast<std::size_t>(at - header.begin());
    const std::vector<std::string>& first = csv.records[1].fields;
    if (place >= first.size() || first[place] == std::to_string(schema_.version)) return;
    std::erase_if(table_.problems, [](const Problem& problem) { return problem.line == 1; });
    report(1, other_version(first[place]),
           schema_.renew ? "write it anew: " + schema_.renew(file_)
                         : "delete it and bless its rows anew");
  }

  std::string other_version(const std::string& version) const {
    return fmt::format("schema version '{}', but this program reads {}", version, schema_.version);
  }

  void read_row(const Layout& layout, const CsvRecord& record) {
    const std::size_t before = table_.problems.size();
    if (record.fields.size() == 1 && record.fields.front().empty())
      return report(record.line, "an empty line", "remove it");
    if (record.fields.size() != layout.width)
      return report(
          record.line,
          fmt::format("{} fields under {} columns", record.fields.size(), layout.width),
          "add the missing or remove the surplus fields; quote a field that holds commas");
    if (const std::string& version = record.fields[layout.version];
        version != std::to_string(schema_.version))
      return report(
          record.line, other_version(version),
          "delete the rows of that version and bless them again, or use the program that wrote "
          "them");
    TableRow row{record.line, {}};
    for (std::size_t i = 0; i < schema_.columns.size(); ++i) {
      const Column& column = schema_.columns[i];
      const std::size_t at = layout.positions[i];
      row.fields.push_back(at == kNowhere ? "" : record.fields[at]);
      if (const std::optional<Complaint> complaint = column.check(row.fields.back()))
        report(record.line, fmt::format("{}: {}", column.name, complaint->what), complaint->fix);
    }
    check_place(row);
    if (table_.problems.size() == before) table_.rows.push_back(std::move(row));
  }

  // Rows must be unique and sorted, so that changing one row is a diff of one line.
  void check_place(const TableRow& row) {
    const Key key = key_of(schema_, row.fields);
    const auto [earlier, is_new] = lines_.emplace(key, row.line);
    if (!is_new)
      return report(row.line,
                    fmt::format("the row '{}' was given on line {} already", fmt::join(key, " "),
                                earlier->second),
                    "keep the correct one");
    if (key < greatest_)
      report(row.line,
             fmt::format("the row '{}' stands after '{}'", fmt::join(key, " "),
                         fmt::join(greatest_, " ")),
             "sort the rows by their key, bytewise (LC_ALL=C)");
    greatest_ = std::max(greatest_, key);
  }

  const Schema& schema_;
  std::string file_;
  Table table_;
  std::map<Key, std::size_t> lines_;
  Key greatest_;
};

std::vector<std::string_view> split(std::string_view field, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end; (end = field.find(separator)) != field.npos; field.remove_prefix(end + 1))
    parts.push_back(field.substr(0, end));
  parts.push_back(field);
  return parts;
}

} // namespace

std::optional<Complaint> any_text(std::string_view) { return std::nullopt; }

std::optional<Complaint> an_id(std::string_view field) {
  if (field.empty()) return Complaint{"it is empty", "name it"};
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  };
  if (!std::all_of(field.begin(), field.end(), allowed))
    return Complaint{fmt::format("'{}' is not a name", field),
                     "use letters, digits, '_' and '.' only"};
  return std::nullopt;
}

std::optional<Complaint> a_positive_number(std::string_view field) {
  const std::optional<double> value = parse_number(field);
  if (value && *value > 0 && *value <= kGreatest) return std::nullopt;
  return Complaint{fmt::format("'{}' is not a positive number up to {:g}", field, kGreatest),
                   "delete the line, then measure and bless the row again"};
}

std::optional<Complaint> a_number_from_zero(std::string_view field) {
  const std::optional<double> value = parse_number(field);
  if (value && *value >= 0 && *value <= kGreatest) return std::nullopt;
  return Complaint{fmt::format("'{}' is not a number from 0 to {:g}", field, kGreatest),
                   "delete the line, then measure and bless the row again"};
}

std::optional<Complaint> a_tolerance(std::string_view field) {
  const std::optional<double> value = parse_number(field);
  if (value && *value > 0 && *value <= 100) return std::nullopt;
  return Complaint{fmt::format("expected a tolerance, got '{}'", field),
                   "give percent, above 0 and up to 100"};
}

std::optional<Complaint> positive_numbers(std::string_view field) {
  for (const std::string_view part : split(field, ';'))
    if (const auto complaint = a_positive_number(part)) return complaint;
  return std::nullopt;
}

Table read_table(const Schema& schema, std::string_view contents, const std::string& file) {
  return TableReader(schema, file).read(read_csv(contents, file));
}

std::string write_table(const Schema& schema, std::vector<std::vector<std::string>> rows) {
  std::sort(rows.begin(), rows.end(),
            [&](const auto& a, const auto& b) { return key_of(schema, a) < key_of(schema, b); });
  std::vector<std::size_t> columns; // without optional ones that no row uses
  std::vector<std::string> record = {std::string(kVersionColumn)};
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    const auto has = [&](const std::vector<std::string>& row) { return !row.at(i).empty(); };
    if (schema.columns[i].optional && std::none_of(rows.begin(), rows.end(), has)) continue;
    columns.push_back(i);
    record.emplace_back(schema.columns[i].name);
  }
  std::string contents = csv_record(record);
  for (const auto& row : rows) {
    record.assign(1, std::to_string(schema.version));
    for (const std::size_t i : columns)
      record.push_back(schema.columns[i].check == any_text ? for_csv(row[i]) : row[i]);
    contents += csv_record(record);
  }
  return contents;
}

std::string join_numbers(const std::vector<double>& values) {
  std::string joined;
  for (const double value : values) {
    if (!joined.empty()) joined += ';';
    joined += csv_number(value);
  }
  return joined;
}

std::vector<double> split_numbers(std::string_view field) {
  std::vector<double> values;
  for (const std::string_view part : split(field, ';')) {
    const std::optional<double> value = parse_number(part);
    require(value.has_value(),
            fmt::format("'{}' is not a number; give numbers joined by ';'", part));
    values.push_back(*value);
  }
  return values;
}

} // namespace kg::judge
