// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A table file with declared columns. Each kind of table lists its columns. Reading fails closed:
// anything missing, unknown, repeated, unsorted or out of range is a problem with file and line.
// All problems are reported.
#pragma once

#include "perf/format/csv.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kg::judge {

// What is wrong with a field and how to fix it. Empty if the field is valid.
struct Complaint {
  std::string what;
  std::string fix;
};
using Check = std::optional<Complaint> (*)(std::string_view field);

std::optional<Complaint> any_text(std::string_view field);
std::optional<Complaint>
an_id(std::string_view field); // letters, digits, '_' and '.'; at least one
// Numbers are finite and at most kGreatest, which no measured time, count or rate exceeds.
inline constexpr double kGreatest = 1e18;
std::optional<Complaint> a_positive_number(std::string_view field);
std::optional<Complaint> a_tolerance(std::string_view field); // in percent, above 0 and up to 100
std::optional<Complaint> a_number_from_zero(std::string_view field);
std::optional<Complaint> positive_numbers(std::string_view field); // at least one, separated by ';'

struct Column {
  std::string_view name;
  Check check;
  bool key = false; // key columns together identify a row: rows are unique in and sorted by them
  // The column may be missing and then reads as empty. It is written if any row has a value.
  bool optional = false;
};

// Every table also has the column `schema`. Each row holds the version in it, so that a merge of
// old and new rows is detected.
struct Schema {
  std::string_view name; // "timing"
  int version;
  std::vector<Column> columns;
  // The command that rewrites `file` if its version differs; null if there is none.
  std::string (*renew)(const std::string& file) = nullptr;
};

struct TableRow {
  std::size_t line = 0;
  std::vector<std::string> fields; // in the order of Schema::columns, not of the file
};

struct Table {
  std::vector<TableRow> rows; // rows without a problem
  std::vector<Problem> problems;
};

Table read_table(const Schema& schema, std::string_view contents, const std::string& file);

// The contents of the file: the header, then the rows sorted by key.
std::string write_table(const Schema& schema, std::vector<std::vector<std::string>> rows);

// "1.5;2;3" and back. split_numbers() throws kg::Error on text that positive_numbers() rejects.
std::string join_numbers(const std::vector<double>& values);
std::vector<double> split_numbers(std::string_view field);

} // namespace kg::judge
