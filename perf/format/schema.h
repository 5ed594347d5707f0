// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A table file with declared columns. Whoever adds a kind of table lists its columns; reading then
// fails closed: whatever is missing, unknown, repeated, out of order or out of range is a problem
// with its file and line, and no problem hides another.
#pragma once

#include "perf/format/csv.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kg::judge {

// What is wrong with a field and what to do, or nothing.
struct Complaint {
  std::string what;
  std::string fix;
};
using Check = std::optional<Complaint> (*)(std::string_view field);

std::optional<Complaint> any_text(std::string_view field);
std::optional<Complaint>
an_id(std::string_view field); // letters, digits, '_' and '.', at least one
// Numbers are finite and at most kGreatest: no time, count or rate that was measured is beyond it.
inline constexpr double kGreatest = 1e18;
std::optional<Complaint> a_positive_number(std::string_view field);
std::optional<Complaint> a_tolerance(std::string_view field); // in percent, above 0 and up to 100
std::optional<Complaint> a_number_from_zero(std::string_view field);
std::optional<Complaint> positive_numbers(std::string_view field); // at least one, joined by ';'

struct Column {
  std::string_view name;
  Check check;
  bool key = false; // key columns together name a row: rows are unique in them and sorted by them
  // May be missing, which reads as empty; written where a row has it.
  bool optional = false;
};

// Every table has the column `schema` besides; each row carries the version there, so that a merge
// of old and new rows shows.
struct Schema {
  std::string_view name; // "timing"
  int version;
  std::vector<Column> columns;
  // The command that writes `file` anew, where there is one: for a file of another version.
  std::string (*renew)(const std::string& file) = nullptr;
};

struct TableRow {
  std::size_t line = 0;
  std::vector<std::string> fields; // in the order of Schema::columns, whatever the file's
};

struct Table {
  std::vector<TableRow> rows; // those without a problem
  std::vector<Problem> problems;
};

Table read_table(const Schema& schema, std::string_view contents, const std::string& file);

// The file's contents: header, then the rows sorted by their key.
std::string write_table(const Schema& schema, std::vector<std::vector<std::string>> rows);

// "1.5;2;3" and back. Splitting throws kg::Error on what positive_numbers would not accept.
std::string join_numbers(const std::vector<double>& values);
std::vector<double> split_numbers(std::string_view field);

} // namespace kg::judge
