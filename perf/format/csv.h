// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// CSV as specified by RFC 4180: quoted fields, doubled quotes, line breaks inside quotes, CRLF or
// LF between records. The reader is strict, keeps the line of each record, and reports every
// problem of a file, not only the first. schema.h interprets the fields.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kg::judge {

// A problem of a file. Line 0 stands for the whole file.
struct Problem {
  std::string file;
  std::size_t line = 0;
  std::string what;
  std::string fix;

  friend bool operator==(const Problem&, const Problem&) = default;
};

// "<file>:<line>: <what is wrong>; <what to do>"
std::string text(const Problem& problem);

// All problems, one per line.
std::string text(std::span<const Problem> problems);

struct CsvRecord {
  std::size_t line = 0; // its first line, counted from 1
  std::vector<std::string> fields;
};

struct Csv {
  std::vector<CsvRecord> records; // the first is the header
  std::vector<Problem> problems;
};

// Splits the contents of `file`. `records` omits records with a problem.
Csv read_csv(std::string_view contents, const std::string& file);

// One record, terminated by a line feed. Fields are quoted where necessary.
std::string csv_record(std::span<const std::string> fields);

// "%.6g": timings are not repeatable to six digits, and short numbers keep diffs small.
std::string csv_number(double value);

// A finite decimal number that makes up all of `field`: no blanks, no '+', no "nan", no "inf".
std::optional<double> parse_number(std::string_view field);

} // namespace kg::judge
